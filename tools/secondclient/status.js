// Checks of status posts: what people show to their contacts for a day.

import { expect, until } from './wait.js'

const posts = 'status@broadcast'

/** Returns the checks. device() is the linked client; own, friend and stranger are numbers. */
export function statusChecks({ sandbox, device, own, friend, stranger }) {
  const shown = async (number, id) => (await sandbox.messages(number)).find((one) => one.messageId === id)

  return [
    ['a status post reaches those whom the client names, and is deleted', async () => {
      const { key } = await device().socket.sendMessage(posts, { text: 'open today' },
        { backgroundColor: '#7E2AA8', font: 1, statusJidList: [`${friend}@s.whatsapp.net`], broadcast: true })
      const seen = await until('the post', () => shown(friend, key.id))
      expect(seen.chat === posts && seen.text === 'open today' && seen.from === `${own}@s.whatsapp.net`, `the phone shows ${JSON.stringify(seen)}`)
      expect(!(await shown(stranger, key.id)), 'a stranger sees it')
      await device().socket.sendMessage(posts, { delete: key }, { statusJidList: [`${friend}@s.whatsapp.net`] })
      await until('the deletion', async () => (await shown(friend, key.id)).deleted)
    }],

    ["a phone's status post arrives, and its author learns who has seen it", async () => {
      await sandbox.call('PUT', `/phones/${friend}/status-audience`, { show: 'whitelist', people: [own] })
      const id = await sandbox.send(friend, posts, 'at the beach')
      const { message } = await until('the post', () => device().received.find((one) => one.id === id))
      expect(message.key.remoteJid === posts && message.message?.extendedTextMessage?.text === 'at the beach' || message.message?.conversation === 'at the beach',
        `it is ${JSON.stringify(message)}`)
      await device().socket.readMessages([message.key])
      await until('that it was seen', async () => (await shown(friend, id)).status === 'read')
      await sandbox.call('DELETE', `/phones/${friend}/messages/${id}`)
    }]
  ]
}
