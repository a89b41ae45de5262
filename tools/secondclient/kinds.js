// Checks of what businesses and people write beside texts and files: templates, products, payments, cards, places that move.

import { readFile } from 'node:fs/promises'

import { expect, until } from './wait.js'

/** A picture of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const cards = ['Ana', 'Bruno'].map((name, n) => ({
  vcard: `BEGIN:VCARD\nVERSION:3.0\nN:;${name};;;\nFN:${name}\nTEL;type=CELL:+55 11 97777-001${n}\nEND:VCARD`
}))

/** Returns the texts of an object that people read: those with a blank in them. */
function wordsOf(value) {
  if (typeof value === 'string') return value.includes(' ') ? [value] : []
  return value && typeof value === 'object' ? Object.values(value).flatMap(wordsOf) : []
}

/** Returns the checks. device() is the linked client; own and friend are numbers. */
export async function kindChecks({ sandbox, device, own, friend }) {
  const chat = `${friend}@s.whatsapp.net`
  const shown = (id) => until('the message on the phone', async () => (await sandbox.messages(friend)).find((one) => one.messageId === id))
  const examples = JSON.parse(await readFile(new URL('../../internal/sandbox/content/examples.json', import.meta.url)))

  return [
    ...examples.map(({ id: name, content }) => [`what a phone sends is read: ${name}`, async () => {
      const id = await sandbox.post(friend, { to: own, type: 'content', content })
      const { message } = await until('the message', () => device().received.find((one) => one.id === id))
      const [kind] = Object.keys(content)
      expect(message.message?.[kind], `it is ${JSON.stringify(message.message)}`)
      const got = wordsOf(message.message)
      for (const words of wordsOf(content)) expect(got.includes(words), `it lacks ${JSON.stringify(words)}`)
    }]),

    ...examples.map(({ id: name, content }) => [`what is written is on the phone: ${name}`, async () => {
      // The library names fields as the phones' examples do, but for one abbreviation.
      const own = JSON.parse(JSON.stringify(content).replace(/JID":/g, 'Jid":').replace(/ID":/g, 'Id":'))
      const id = await device().relay(chat, own)
      const { type } = await shown(id)
      expect(type !== 'unsupported', `the phone shows it as ${type}`)
    }]),

    ['several cards are one message', async () => {
      const { type, contacts } = await shown(await device().post(chat, { contacts: { displayName: '2 contacts', contacts: cards } }))
      expect(type === 'contact' && contacts.map((one) => one.fullName).join() === 'Ana,Bruno', `the phone shows ${type}, ${JSON.stringify(contacts)}`)
    }],

    ['an edited caption leaves the picture', async () => {
      const theirs = await sandbox.post(friend, { to: own, type: 'image', media: `data:image/png;base64,${pixel}`, caption: 'before' })
      await until('the picture', () => device().received.some((one) => one.id === theirs))
      await sandbox.edit(friend, theirs, 'after')
      const edit = await until('the edit', () => device().edits.find((one) => one.id === theirs))
      expect(edit.message?.imageMessage?.caption === 'after', `the edit is ${JSON.stringify(edit.message)}`)
    }],

    ['an answer to what nobody has shows what it answers', async () => {
      const quoted = { key: { remoteJid: chat, fromMe: false, id: '3EB0F00DF00DF00DF00D' }, message: { conversation: 'from long ago' } }
      const id = await device().post(chat, { text: 'I remember' }, { quoted })
      const seen = await shown(id)
      expect(seen.quotedMessageId === quoted.key.id, `the phone shows ${JSON.stringify(seen)}`)
    }]
  ]
}
