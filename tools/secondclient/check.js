// Runs the sandbox at the address given as the argument against Baileys, an
// implementation of the protocol that has nothing in common with the one the
// gateway uses. Prints a line per check; ends with 1 if one failed. With
// --verbose it also prints what the library logged.

import { createHash } from 'node:crypto'

import { Sandbox } from './control.js'
import { channelChecks } from './channels.js'
import { groupChecks } from './groups.js'
import { kindChecks } from './kinds.js'
import { markChecks } from './marks.js'
import { statusChecks } from './status.js'
import { expect, pause, until } from './wait.js'

// The library and its Signal implementation write to the console, the latter
// whole sessions with their keys.
for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace']) console[method] = () => {}
const { Client, trust } = await import('./client.js')
const { peopleChecks } = await import('./people.js')

// Baileys' numbers: the server, or another own device, has it; it was
// delivered; it was read.
const noted = 2
const delivered = 3
const read = 4
const undecryptable = 2 // what the library shows instead of a message
const offlineMessages = 20
const offlineLimit = 5_000

const address = process.argv.slice(2).find((argument) => !argument.startsWith('-')) ?? 'http://127.0.0.1:8090'
const sandbox = new Sandbox(address)

// The library fetches and leaves files over TLS, whatever the rest goes over.
const secure = address.startsWith('https:')

// New numbers each time, so that it can be run again on a sandbox that keeps
// its state. The last digits avoid those with a meaning.
const run = String(Date.now()).slice(-6)
const own = `49151${run}15`
const second = `49151${run}25`
const friend = `49151${run}35`
const silent = `49151${run.slice(0, 4)}0003`

let client
let other
let friendLid
let group

/** How many checks at the beginning everything else rests on. */
const prerequisites = 3

const checks = [
  ['the sandbox says what to trust', async () => {
    const { websocketUrl, rootKey } = await sandbox.trust()
    expect(/^[0-9a-f]{64}$/.test(rootKey), `the root key is ${rootKey}`)
    trust(rootKey)
    client = new Client(websocketUrl)
    await sandbox.update(own, { name: 'Second client' })
    await sandbox.update(friend, { name: 'Friend' })
    friendLid = (await sandbox.phone(friend)).lid
  }],

  ['a QR code is shown and scanned', async () => {
    client.connect()
    await sandbox.scan(own, await until('a QR code', () => client.codes[0]))
  }],

  ['the connection is restarted once (515) and opens', async () => {
    await until('the open connection', () => client.state === 'open')
    expect(client.closings.join() === '515', `connections were closed with ${client.closings.join()}`)
    expect(client.creds.me.id.startsWith(`${own}:`), `it is linked as ${client.creds.me.id}`)
    expect(client.creds.me.lid, 'it has no LID')
    expect((await sandbox.phone(own)).devices.length === 1, 'the phone does not show the device')
  }],

  ['the name set on the phone arrives', async () => {
    await until('the name', () => client.creds.me.name === 'Second client')
  }],

  ['a text to a number reaches the phone', () => roundTrip(friend, `${friend}@s.whatsapp.net`, 'to the number', read)],

  ['a text to a LID reaches the phone', () => roundTrip(friend, friendLid, 'to the LID', read)],

  ['a phone that never reads only delivers', async () => {
    await roundTrip(silent, `${silent}@s.whatsapp.net`, 'to the silent one', delivered)
    await pause(2_000)
    expect(!client.updates.some((update) => update.chat.startsWith(silent) && update.status >= read), 'it was read')
  }],

  ["a phone's text arrives", async () => {
    const id = await sandbox.send(friend, own, 'from the phone')
    const message = await until('the text', () => client.received.find((one) => one.id === id))
    expect(message.text === 'from the phone', `it says ${message.text}`)
    expect(message.kind === 'notify', `it comes as ${message.kind}`)
    expect([message.chat, message.chatAlt].includes(`${friend}@s.whatsapp.net`), `it is from ${message.chat}, ${message.chatAlt}`)
  }],

  ["the client's receipts reach the phone", async () => {
    const message = client.received.at(-1)
    const status = async () => (await sandbox.messages(friend)).find((one) => one.messageId === message.id).status
    await until('delivery', async () => (await status()) === 'delivered')
    await client.socket.readMessages([message.key])
    await until('reading', async () => (await status()) === 'read')
  }],

  ['what the own phone sends shows on the linked device', async () => {
    const id = await sandbox.send(own, friend, 'from the own phone')
    const copy = await until('the copy', () => client.copies.find((one) => one.id === id))
    expect(copy.text === 'from the own phone', `it says ${copy.text}`)
    expect([copy.chat, copy.chatAlt].includes(`${friend}@s.whatsapp.net`), `it is in ${copy.chat}, ${copy.chatAlt}`)
  }],

  ['thirty texts keep their order', async () => {
    const ids = []
    for (let i = 0; i < 30; i++) ids.push(await sandbox.send(friend, own, `in order ${i}`))
    await until('all texts', () => ids.every((id) => client.received.some((one) => one.id === id)))
    inOrder(ids)
  }],

  ['a number that exists is found, another is not', async () => {
    const nobody = `49151${run.slice(0, 4)}0000`
    const found = await client.socket.onWhatsApp(friend, nobody)
    const ofFriend = found.find((one) => one.jid.startsWith(friend))
    expect(ofFriend?.exists, `the look-up says ${JSON.stringify(found)}`)
    expect(!found.some((one) => one.jid.startsWith(nobody) && one.exists), `the look-up says ${JSON.stringify(found)}`)
  }],

  [`${offlineMessages} texts sent while it was away arrive soon and in order`, async () => {
    client.drop()
    await until('the closed connection', () => client.state === 'close')
    const ids = []
    for (let i = 0; i < offlineMessages; i++) ids.push(await sandbox.send(friend, own, `offline ${i}`))
    client.connect()
    await until('the open connection', () => client.state === 'open')
    const start = Date.now()
    await until('all texts', () => ids.every((id) => client.received.some((one) => one.id === id)))
    expect(Date.now() - start < offlineLimit, `it took ${Date.now() - start} ms`)
    inOrder(ids)
    expect(ids.every((id) => client.received.filter((one) => one.id === id).length === 1), 'one came twice')
    await roundTrip(friend, `${friend}@s.whatsapp.net`, 'after the pause', read)
  }],

  ['a connection that is cut can be opened again', async () => {
    await sandbox.disconnect(own)
    await until('the closed connection', () => client.state === 'close')
    client.connect()
    await until('the open connection', () => client.state === 'open')
    await roundTrip(friend, `${friend}@s.whatsapp.net`, 'after the cut', read)
  }],

  ['a device is linked by a code, which a wrong code does not do, and unlinked', async () => {
    const coded = new Client(client.url)
    coded.connect()
    await until('a QR code', () => coded.codes[0])
    const code = await coded.socket.requestPairingCode(second)
    const refused = await sandbox.enterCode(second, code === 'WRNGCDE1' ? 'WRNGCDE2' : 'WRNGCDE1').then(() => false, () => true)
    expect(refused, 'the wrong code was taken')
    await sandbox.enterCode(second, code)
    await until('the open connection', () => coded.state === 'open')
    expect((await sandbox.phone(second)).devices.length === 1, 'the phone does not show the device')
    await sandbox.unlink(second)
    await until('the end of the link', () => coded.closings.includes(401))
    expect((await sandbox.phone(second)).devices.length === 0, 'the phone still shows the device')
  }],

  ['a second device of the account is linked', async () => {
    other = new Client(client.url)
    other.connect()
    await sandbox.scan(own, await until('a QR code', () => other.codes[0]))
    await until('the open connection', () => other.state === 'open')
  }],

  ['it gets copies of what the first one sends', async () => {
    const id = await roundTrip(friend, `${friend}@s.whatsapp.net`, 'seen by both', read)
    const copy = await until('the copy', () => other.copies.find((one) => one.id === id))
    expect(copy.text === 'seen by both', `it says ${copy.text}`)
    expect([copy.chat, copy.chatAlt].includes(`${friend}@s.whatsapp.net`), `it is in ${copy.chat}, ${copy.chatAlt}`)
    await until('the receipts of the copy', () => other.updates.some((update) => update.id === id && update.status >= read))
  }],

  ['its receipts of those copies name the chat as it was addressed', async () => {
    const last = client.copies.findLast((one) => one.text === 'seen by both')
    const receipt = await until('the receipt', () => client.updates.find((update) => update.id === last.id && update.status === noted))
    expect(receipt.chat === last.chat, `a receipt names ${receipt.chat}, not ${last.chat}`)
  }],

  ["a phone's text reaches both devices", async () => {
    const id = await sandbox.send(friend, own, 'to both')
    for (const device of [client, other]) {
      const message = await until('the text', () => device.received.find((one) => one.id === id))
      expect(message.text === 'to both', `it says ${message.text}`)
    }
  }],

  ['a name set on one device arrives on the other', async () => {
    await client.socket.updateProfileName('Renamed')
    await until('the new name', () => other.creds.me.name === 'Renamed')
  }],

  ['the second device logs out', async () => {
    noComplaint(other)
    await logout(other, 1)
    await roundTrip(friend, `${friend}@s.whatsapp.net`, 'alone again', read)
  }],

  ['typing is seen', async () => {
    await client.socket.sendPresenceUpdate('composing', `${friend}@s.whatsapp.net`)
    await until('the typing', async () =>
      (await sandbox.activity(friend)).some((one) => one.type === 'chatstate' && one.value === 'composing'))
  }],

  ['a reaction, an edit and a deletion reach the phone', async () => {
    const chat = `${friend}@s.whatsapp.net`
    const id = await roundTrip(friend, chat, 'to be changed', read)
    const shown = async () => (await sandbox.messages(friend)).find((one) => one.messageId === id)
    const key = { remoteJid: chat, fromMe: true, id }
    await client.post(chat, { react: { text: '👍', key } })
    await until('the reaction', async () => (await shown()).reactions[0]?.reaction === '👍')
    await client.post(chat, { text: 'changed', edit: key })
    await until('the edit', async () => (await shown()).text === 'changed' && (await shown()).edited)
    await client.post(chat, { delete: key })
    await until('the deletion', async () => (await shown()).deleted)
  }],

  ["a phone's reaction arrives", async () => {
    const id = await client.send(`${friend}@s.whatsapp.net`, 'react to it')
    await until('the text on the phone', async () => (await sandbox.messages(friend)).some((one) => one.messageId === id))
    await sandbox.react(friend, id, '🎉')
    await until('the reaction', () => client.reactions.some((one) => one.id === id && one.text === '🎉'))
  }],

  ['a group that a phone makes is told', async () => {
    group = (await sandbox.createGroup('Second client', friend, own, silent)).id
    await until('the group', () => client.groups.some((one) => one.id === group && one.subject === 'Second client'))
    const known = await client.socket.groupMetadata(group)
    expect(known.participants.length === 3, `it has ${known.participants.length} members`)
  }],

  ['the first and the next messages to a group reach all phones', async () => {
    for (const text of ['group one', 'group two', 'group three']) {
      const id = await client.send(group, text)
      for (const number of [friend, silent, own]) {
        const shown = await until(`${text} on ${number}`, async () => (await sandbox.messages(number)).find((one) => one.messageId === id))
        expect(shown.text === text && shown.chat === group, `${number} shows ${JSON.stringify(shown)}`)
      }
    }
  }],

  ["phones' messages to a group arrive", async () => {
    for (const number of [friend, silent, friend]) {
      const id = await sandbox.send(number, group, `of ${number}`)
      const message = await until('the text', () => client.received.find((one) => one.id === id && one.text))
      expect(message.text === `of ${number}` && message.chat === group, `it is ${message.text} in ${message.chat}`)
      const by = [message.key.participant, message.key.participantAlt]
      expect(by.includes(`${number}@s.whatsapp.net`), `it is by ${by}`)
    }
  }],

  ['a group is changed', async () => {
    const made = await client.socket.groupCreate('Made', [`${friend}@s.whatsapp.net`])
    await client.socket.groupUpdateSubject(made.id, 'Renamed')
    await client.socket.groupUpdateDescription(made.id, 'what for')
    await client.socket.groupParticipantsUpdate(made.id, [`${silent}@s.whatsapp.net`], 'add')
    await client.socket.groupSettingUpdate(made.id, 'announcement')
    const now = await sandbox.group(made.id)
    expect(now.subject === 'Renamed' && now.description === 'what for' && now.participants.length === 3, `it is ${JSON.stringify(now)}`)
    await client.socket.groupLeave(made.id)
    expect((await sandbox.group(made.id)).participants.length === 2, 'it is still in the group')
  }],

  ...groupChecks({ sandbox, device: () => client, own, friend, silent }),

  ...peopleChecks({ sandbox, device: () => client, own, friend }),
  ...channelChecks({ sandbox, device: () => client, own, friend }),

  ...markChecks({ sandbox, device: () => client, own, friend }),
  ...(await kindChecks({ sandbox, device: () => client, own, friend })),
  ...statusChecks({ sandbox, device: () => client, own, friend, stranger: second }),

  ...(secure ? [['files go both ways', async () => {
    const file = Buffer.alloc(200_000, 'a file ')
    const hash = createHash('sha256').update(file).digest('hex')
    const id = await client.post(`${friend}@s.whatsapp.net`, { document: file, mimetype: 'application/pdf', fileName: 'out.pdf' })
    const shown = await until('the document', async () => (await sandbox.messages(friend)).find((one) => one.messageId === id))
    expect(shown.mediaSha256 === hash && shown.fileName === 'out.pdf', `the phone shows ${JSON.stringify(shown)}`)
    const media = `data:application/pdf;base64,${file.toString('base64')}`
    const back = await sandbox.post(friend, { to: own, type: 'document', media, fileName: 'in.pdf' })
    const message = await until('the document', () => client.received.find((one) => one.id === back))
    expect(file.equals(await client.download(message.message)), 'it is another file')
  }]] : []),

  ['nothing was undecryptable, and the library logged no error', async () => {
    noComplaint(client)
  }],

  ['logging out removes the device', () => logout(client, 0)]
]

/** Logs a device out and checks that the phone shows so many others. */
async function logout(device, others) {
  const before = device.closings.length
  await device.socket.logout()
  await until('the removal', async () => (await sandbox.phone(own)).devices.length === others)
  await until('the closed connection', () => device.closings.length > before)
  expect(device.closings[before] === 401, `the connection was closed with ${device.closings[before]}`)
}

/** Sends a text, looks for it on the phone, and waits for the receipts, which have to name the chat as it was addressed. */
async function roundTrip(number, chat, text, last) {
  const id = await client.send(chat, text)
  const shown = await until('the text on the phone', async () => (await sandbox.messages(number)).find((one) => one.messageId === id))
  expect(shown.text === text, `the phone shows ${JSON.stringify(shown.text)}`)
  expect(shown.chat === `${own}@s.whatsapp.net`, `the phone shows it in ${shown.chat}`)
  await until(`status ${last}`, () => client.updates.some((update) => update.id === id && update.status >= last))
  const elsewhere = client.updates.find((update) => update.id === id && update.status >= delivered && update.chat !== chat)
  expect(!elsewhere, `a receipt names ${elsewhere?.chat}, not ${chat}`)
  return id
}

/** Checks that a client could read everything and had nothing to log as an error. */
function noComplaint(one) {
  // What is told of groups has no content either, but says what it is.
  const bad = one.received.filter(({ message }) => !message.message && (message.messageStubType ?? undecryptable) === undecryptable)
  expect(bad.length === 0, `${bad.length} messages without content`)
  // The restart after linking is an error in the library's eyes.
  const errors = one.complaints.filter((line) => line.startsWith('error') && !line.includes('stream errored out'))
  expect(errors.length === 0, `the library complains: ${[...new Set(errors)].slice(0, 5).join(' | ')}`)
}

/** Checks that the messages with these ids came in this order. */
function inOrder(ids) {
  const order = client.received.map((one) => one.id).filter((id) => ids.includes(id))
  const once = order.filter((id, i) => order.indexOf(id) === i)
  expect(once.join() === ids.join(), 'the order is another one')
}

let failures = 0
for (const [number, [name, check]] of checks.entries()) {
  const start = Date.now()
  try {
    await check()
    process.stdout.write(`ok    ${name} (${Date.now() - start} ms)\n`)
  } catch (error) {
    failures++
    process.stdout.write(`FAIL  ${name}: ${error.message}\n`)
    if (number < prerequisites) break
  }
}
if (process.argv.includes('--verbose')) process.stdout.write([...new Set(client?.complaints)].map((line) => `      ${line}\n`).join(''))
process.stdout.write(failures ? `failed: ${failures}\n` : `all ${checks.length} checks passed\n`)
process.exit(failures ? 1 : 0)
