// One Baileys client, with its credentials in memory.

import makeWASocket, { DisconnectReason, downloadMediaMessage, initAuthCreds, proto, WA_CERT_DETAILS } from 'baileys'
import libraryLogger from 'baileys/lib/Utils/logger.js'

// What the library does with communities it writes to its own log, whatever logger it was given.
libraryLogger.level = 'silent'

/** Makes every client of this process trust a sandbox. */
export function trust(rootKey) {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex')
}

/** The logger of the clients: it keeps warnings and errors, to be looked at. */
function recorder(lines) {
  const keep = (level) => (object, message) => {
    const text = typeof object === 'string' ? object : `${message ?? ''} ${object?.err?.message ?? object?.error ?? ''}`
    lines.push(`${level}: ${text.trim()}`)
  }
  const ignore = () => {}
  const logger = { level: 'warn', trace: ignore, debug: ignore, info: ignore, warn: keep('warn'), error: keep('error'), fatal: keep('fatal') }
  logger.child = () => logger
  return logger
}

/** A linked, or not yet linked, device. */
export class Client {
  constructor(websocketUrl) {
    this.url = websocketUrl
    this.creds = initAuthCreds()
    this.records = new Map()
    this.complaints = [] // warnings and errors of the library
    this.codes = [] // QR codes shown on this connection
    this.closings = [] // status codes of lost connections
    this.received = [] // messages of others: {id, chat, chatAlt, text, kind, message}
    this.copies = [] // own messages, those of the own phone among them
    this.sent = new Map() // own messages by id, for resending
    this.updates = [] // {id, chat, status}
    this.groups = [] // groups that it was told of
    this.reactions = [] // {id, text}
    this.edits = [] // what others have changed: {id, message}
    this.state = 'closed'
  }

  /** Opens a connection. On a restart that the platform asks for it opens the next one itself. */
  connect() {
    this.codes = []
    this.state = 'connecting'
    const socket = makeWASocket({
      auth: { creds: this.creds, keys: this.#keys() },
      waWebSocketUrl: this.url,
      logger: recorder(this.complaints),
      getMessage: async (key) => this.sent.get(key.id)
    })
    this.socket = socket
    socket.ev.on('creds.update', (update) => Object.assign(this.creds, update))
    socket.ev.on('connection.update', (update) => this.#connection(socket, update))
    socket.ev.on('messages.upsert', ({ messages, type }) => messages.forEach((message) => this.#message(message, type)))
    socket.ev.on('groups.upsert', (groups) => this.groups.push(...groups))
    socket.ev.on('messages.reaction', (list) => list.forEach(({ key, reaction }) => this.reactions.push({ id: key.id, text: reaction.text })))
    socket.ev.on('messages.update', (updates) => updates.forEach(({ key, update }) => {
      this.#status(key, update.status)
      if (update.message?.editedMessage) this.edits.push({ id: key.id, message: update.message.editedMessage.message })
    }))
  }

  #connection(socket, { connection, lastDisconnect, qr }) {
    if (socket !== this.socket) return
    if (qr) this.codes.push(qr)
    if (connection) this.state = connection
    if (connection !== 'close') return
    const status = lastDisconnect?.error?.output?.statusCode
    this.closings.push(status)
    if (status === DisconnectReason.restartRequired) this.connect()
  }

  #message(message, kind) {
    if (message.key.fromMe) this.#status(message.key, message.status)
    const content = message.message
    const list = message.key.fromMe ? this.copies : this.received
    list.push({
      id: message.key.id,
      chat: message.key.remoteJid,
      chatAlt: message.key.remoteJidAlt,
      key: message.key,
      text: content?.conversation ?? content?.extendedTextMessage?.text,
      kind,
      message
    })
  }

  #status(key, status) {
    if (status !== undefined && status !== null) this.updates.push({ id: key.id, chat: key.remoteJid, status })
  }

  /** Sends a text and returns its id. */
  send(chat, text) {
    return this.post(chat, { text })
  }

  /** Sends anything that the library can and returns its id. */
  async post(chat, content, options) {
    const message = await this.socket.sendMessage(chat, content, options)
    this.sent.set(message.key.id, message.message)
    return message.key.id
  }

  /** Sends a message of the protocol as it is and returns its id. */
  async relay(chat, message) {
    const id = await this.socket.relayMessage(chat, proto.Message.fromObject(message), {})
    this.sent.set(id, message)
    return id
  }

  /** Returns the decrypted file of a message. */
  download(message) {
    return downloadMediaMessage(message, 'buffer', { host: this.socket.getMediaHost?.() })
  }

  /** Closes the connection, but stays linked. */
  drop() {
    this.socket.ws.close()
  }

  #keys() {
    const records = this.records
    return {
      get: async (type, ids) => {
        const found = {}
        for (const id of ids) {
          const value = records.get(`${type} ${id}`)
          if (value !== undefined) found[id] = value
        }
        return found
      },
      set: async (changes) => {
        for (const [type, values] of Object.entries(changes)) {
          for (const [id, value] of Object.entries(values)) {
            if (value) records.set(`${type} ${id}`, value)
            else records.delete(`${type} ${id}`)
          }
        }
      }
    }
  }
}
