// Devices of a gateway on Baileys, which keeps each in a folder of its own
// (useMultiFileAuthState). The tests of moving in run it as the other program: it links the
// devices that have no keys yet, connects all, sends a text from each, prints "ready" and
// then a line for each message that it receives, until its input ends.
//
// RECADO_TEST_BAILEYS says what to do, in JSON: sandbox (host:port), store (a folder),
// devices (owner, to, group: the number of the phone, and whom it writes to), text.

import { readdirSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import makeWASocket, { DisconnectReason, useMultiFileAuthState, WA_CERT_DETAILS } from 'baileys'
import { Sandbox } from './control.js'
import { until } from './wait.js'

const { version } = JSON.parse(readFileSync(new URL('node_modules/baileys/package.json', import.meta.url)))
// Version 6 takes the keys of app state when somebody has written; version 7 mostly at once.
const lastWritten = version.startsWith('6.') ? 'creds.json' : 'app-state-sync-version-'
const waitForLast = 10_000
const patience = 150_000
const tryFor = 10_000
const mostTries = 4
const distance = 50
const atOnce = 5 // a new device writes nearly a thousand files in one go
const config = JSON.parse(process.env.RECADO_TEST_BAILEYS)
const sandbox = new Sandbox(`http://${config.sandbox}`)
const { rootKey, websocketUrl } = await sandbox.trust()
const platform = await farAway(new URL(websocketUrl))
WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(rootKey, 'hex') // version 6 does not look at it

const say = (line) => process.stdout.write(line + '\n')
const ignore = () => {}
console.log = console.info = ignore // its library for sessions prints them, with their keys
const complain = (object, message) => console.error(message ?? '', object?.err ?? object?.error ?? '')
const logger = { level: 'fatal', trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore, fatal: complain }
logger.child = () => logger

let writing = 0 // files that are being written
async function written(promise) {
  writing++
  try {
    return await promise
  } finally {
    writing--
  }
}

/**
 * Returns an address at which a server is some milliseconds away, as a real one is. Version 6
 * loses what arrives before it has finished its handshake, without a word.
 */
async function farAway(url) {
  const relay = createServer((near) => {
    const far = connect(url.port, url.hostname)
    near.pipe(far)
    far.on('data', (bytes) => setTimeout(() => near.write(bytes), distance))
    far.on('close', () => setTimeout(() => near.destroy(), distance))
    near.on('close', () => far.destroy())
    for (const socket of [near, far]) socket.on('error', ignore) // it closes, too
  })
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve))
  const address = new URL(url)
  address.port = relay.address().port
  return address.href
}

/** A device of the program. */
class Device {
  constructor(one) {
    this.owner = one.owner
    this.to = one.to
    this.group = one.group
    this.folder = join(config.store, one.owner)
  }

  async open() {
    const { state, saveCreds } = await useMultiFileAuthState(this.folder)
    this.save = () => written(saveCreds())
    this.auth = { creds: state.creds, keys: { get: state.keys.get, set: (data) => written(state.keys.set(data)) } }
    await this.reach()
    const isThere = () => readdirSync(this.folder).some((file) => file.startsWith(lastWritten))
    await until('the last file', isThere, waitForLast).catch(ignore) // it works without
  }

  /** Connects, more than once if the library fails over a frame that comes too early. */
  async reach() {
    for (let tries = 1; ; tries++) {
      this.scanned = false
      this.connect()
      try {
        return await until(`the connection of ${this.owner}`, () => this.state === 'open', tries < mostTries ? tryFor : patience)
      } catch (error) {
        if (tries === mostTries) throw error
        const socket = this.socket
        this.socket = undefined
        await socket.end(undefined)
      }
    }
  }

  connect() {
    this.state = undefined
    const socket = makeWASocket({ auth: this.auth, waWebSocketUrl: platform, logger, getMessage: async () => undefined })
    this.socket = socket
    socket.ev.on('creds.update', (update) => {
      Object.assign(this.auth.creds, update)
      this.save()
    })
    socket.ev.on('connection.update', ({ connection, lastDisconnect, qr }) => {
      if (socket !== this.socket) return
      if (qr && !this.scanned) {
        this.scanned = true
        sandbox.scan(this.owner, qr).catch(fail)
      }
      if (connection) this.state = connection
      if (connection === 'close' && lastDisconnect?.error?.output?.statusCode === DisconnectReason.restartRequired) this.connect()
    })
    socket.ev.on('messages.upsert', ({ messages }) => messages.forEach((message) => this.receive(message)))
  }

  receive(message) {
    if (message.key.fromMe) return
    const text = message.message?.conversation ?? message.message?.extendedTextMessage?.text
    if (text) say(`got ${this.owner} ${text}`)
    else if (!message.message) say(`got ${this.owner} what can't be decrypted`)
  }

  async send(text) {
    await this.socket.sendMessage(`${this.to}@s.whatsapp.net`, { text })
    await this.socket.sendMessage(this.group, { text })
  }

  /** Ends the connection after everything that came before was taken. */
  async close() {
    await this.socket.onWhatsApp(this.to)
    const socket = this.socket
    this.socket = undefined
    await socket.end(undefined)
  }
}

function fail(error) {
  console.error('the other program:', error)
  process.exit(1)
}

// Version 6 loses connections over frames that come before it has finished its handshake.
const tooEarly = (error) => version.startsWith('6.') && error?.message?.includes('unable to authenticate')
process.on('unhandledRejection', (error) => tooEarly(error) || fail(error))
const devices = config.devices.map((one) => new Device(one))
for (let first = 0; first < devices.length; first += atOnce) {
  await Promise.all(devices.slice(first, first + atOnce).map((device) => device.open()))
}
if (config.text) for (const device of devices) await device.send(config.text)
say('ready')
for await (const _ of process.stdin) ignore()
await Promise.all(devices.map((device) => device.close()))
let quiet = 0
await until('the last file', () => (quiet = writing === 0 ? quiet + 1 : 0) > 5, patience)
process.exit(0)
