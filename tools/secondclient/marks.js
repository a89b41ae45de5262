// Checks of what is marked at messages: pins.

import { expect, until } from './wait.js'

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
    }]
  ]
}
