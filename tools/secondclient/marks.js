// Checks of what is marked at messages: pins, stars, deletions for the account alone, albums.

import { expect, until } from './wait.js'

/** A picture of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Returns the checks. device() is the linked client; own and friend are numbers. */
export function markChecks({ sandbox, device, own, friend }) {
  const chat = `${friend}@s.whatsapp.net`
  const shown = async (number, id) => (await sandbox.messages(number)).find((one) => one.messageId === id)

  return [
    ['a message is pinned and unpinned for everybody', async () => {
      const id = await device().send(chat, 'open until six')
      await until('the text', () => shown(friend, id))
      const key = { remoteJid: chat, fromMe: true, id }
      await device().post(chat, { pin: key, type: 1, time: 604_800 })
      for (const number of [friend, own]) await until(`the pin on ${number}`, async () => (await shown(number, id)).pinnedUntil !== '')
      await device().post(chat, { pin: key, type: 2 })
      await until('that it is unpinned', async () => (await shown(friend, id)).pinnedUntil === '')
    }],

    ["a phone's pin arrives", async () => {
      const id = await sandbox.send(friend, own, 'pinned there')
      await until('the text', () => device().received.some((one) => one.id === id))
      await sandbox.pin(friend, id, 86_400)
      const { message } = await until('the pin', () => device().received.find((one) => one.message.message?.pinInChatMessage?.key?.id === id))
      const { pinInChatMessage, messageContextInfo } = message.message
      expect(pinInChatMessage.type === 1 && messageContextInfo.messageAddOnDurationInSecs === 86_400, `it is ${JSON.stringify(message.message)}`)
    }],

    ['stars and deletions for the account alone go both ways', async () => {
      const starred = []
      const gone = []
      device().socket.ev.on('messages.update', (list) => starred.push(...list.filter(({ update }) => update.starred !== undefined)))
      device().socket.ev.on('messages.delete', ({ keys }) => gone.push(...(keys ?? [])))
      const id = await sandbox.send(friend, own, 'keep this')
      const { message } = await until('the text', () => device().received.find((one) => one.id === id))
      await device().socket.chatModify({ star: { messages: [{ id, fromMe: false }], star: true } }, chat)
      await until('the star on the phone', async () => (await shown(own, id)).starred)
      await sandbox.star(own, id, false)
      await until('that the phone takes it away', () => starred.some(({ key, update }) => key.id === id && update.starred === false))
      await device().socket.chatModify({ deleteForMe: { deleteMedia: true, key: message.key, timestamp: message.messageTimestamp } }, chat)
      await until('the deletion on the phone', async () => !(await shown(own, id)))
      expect((await shown(friend, id)).text === 'keep this', 'it is gone for others too')
      const other = await sandbox.send(friend, own, 'delete this')
      await until('the text', () => device().received.some((one) => one.id === other))
      await sandbox.deleteForMe(own, other)
      await until('the deletion', () => gone.some((key) => key.id === other))
    }],

    ['albums go both ways', async () => {
      const frame = await device().post(chat, { album: { expectedImageCount: 2, expectedVideoCount: 0 } })
      const seen = await until('the album', () => shown(friend, frame))
      expect(seen.type === 'album' && seen.album.images === 2, `the phone shows ${JSON.stringify(seen)}`)
      const parent = { remoteJid: chat, fromMe: true, id: frame }
      const id = await device().post(chat, { text: 'in it', albumParentKey: parent })
      await until('its message', async () => (await shown(friend, id))?.albumId === frame)
      const theirs = await sandbox.post(friend, { to: own, type: 'album', album: { images: 2, videos: 0 } })
      const { message } = await until('the album', () => device().received.find((one) => one.id === theirs))
      expect(message.message?.albumMessage?.expectedImageCount === 2, `it is ${JSON.stringify(message.message)}`)
      const picture = await sandbox.post(friend, { to: own, type: 'image', albumId: theirs, media: `data:image/png;base64,${pixel}` })
      const child = await until('the picture', () => device().received.find((one) => one.id === picture))
      expect(child.message.message?.messageContextInfo?.messageAssociation?.parentMessageKey?.id === theirs, `it is ${JSON.stringify(child.message.message)}`)
    }]
  ]
}
