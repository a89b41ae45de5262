// Checks of what an account does with channels.

import { expect, until } from './wait.js'

/** Returns the checks. device() is the linked client; own and friend are numbers. */
export function channelChecks({ sandbox, device, own, friend }) {
  let news

  /** Expects that the platform refuses something with a code. */
  const refused = async (what, code) => {
    const error = await what.then(() => undefined, (reason) => reason)
    expect(error?.output?.statusCode === code, `it is answered with ${error ? `${error.output?.statusCode} (${error.message})` : 'yes'}, not ${code}`)
  }

  return [
    ['a channel is found by its link and followed, and its posts arrive', async () => {
      news = await sandbox.call('POST', '/channels', { owner: friend, name: 'News', posts: ['one'] })
      const found = await device().socket.newsletterMetadata('invite', news.invite)
      expect(found.id === news.id && found.thread_metadata.name.text === 'News', `the link leads to ${JSON.stringify(found)}`)
      await device().socket.newsletterFollow(news.id)
      await device().socket.newsletterMute(news.id)
      const seen = await device().socket.newsletterMetadata('jid', news.id)
      expect(seen.viewer_metadata.role === 'SUBSCRIBER' && seen.viewer_metadata.mute === 'ON', `it is ${JSON.stringify(seen.viewer_metadata)}`)
      const post = await sandbox.call('POST', `/channels/${news.id}/posts`, { text: 'two' })
      const arrived = await until('the post', () => device().received.find((one) => one.id === post.messageId))
      expect(arrived.message.message.extendedTextMessage.text === 'two', `it says ${JSON.stringify(arrived.message.message)}`)
    }],

    ['a post is reacted to, and posts are read', async () => {
      await device().socket.newsletterReactMessage(news.id, '2', '👍')
      await until('the reaction', async () => (await sandbox.call('GET', `/channels/${news.id}`)).posts[1].reactions['👍'] === 1)
      const answer = await device().socket.newsletterFetchMessages(news.id, 10, undefined, 1)
      const posts = answer.content[0].content[0].content
      expect(posts.length === 1 && posts[0].attrs.server_id === '2', `there are ${JSON.stringify(posts)}`)
    }],

    ['a channel of its own takes texts of its owner alone', async () => {
      const made = await device().socket.newsletterCreate('Mine', 'of the second client')
      expect(made.name === 'Mine' && made.invite, `it is ${JSON.stringify(made)}`)
      const { key } = await device().socket.sendMessage(made.id, { text: 'first' })
      await until('the post', async () => (await sandbox.call('GET', `/channels/${made.id}`)).posts.some((one) => one.messageId === key.id && one.text === 'first'))
      await refused(device().socket.newsletterUnfollow(made.id), 403)
      expect((await sandbox.call('GET', `/channels/${made.id}`)).owner === own, 'it belongs to somebody else')
    }],

    ['what is gone or not to be had is refused with its code', async () => {
      await sandbox.call('PATCH', `/channels/${news.id}`, { blocked: true })
      await refused(device().socket.newsletterFollow(news.id), 451)
      await device().socket.newsletterUnfollow(news.id)
      await sandbox.call('DELETE', `/channels/${news.id}`)
      await refused(device().socket.newsletterMetadata('jid', news.id), 410)
    }]
  ]
}
