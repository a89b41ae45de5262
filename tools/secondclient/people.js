// Checks of polls, calendar events and mentions, and of what an account says of itself and lets others do.

import { createHash } from 'node:crypto'

import { expect, until } from './wait.js'

const { decryptEventResponse, decryptPollVote, jidNormalizedUser } = await import('baileys')

/** Returns the checks. device() is the linked client; own and friend are numbers. */
export function peopleChecks({ sandbox, device, own, friend }) {
  const chat = `${friend}@s.whatsapp.net`
  const shown = (id) => async () => (await sandbox.messages(friend)).find((one) => one.messageId === id)

  return [
    ['a poll reaches the phone, and its vote is readable', async () => {
      const values = ['Pix', 'Cartão', 'Dinheiro']
      const id = await device().post(chat, { poll: { name: 'Como quer pagar?', values, selectableCount: 1 } })
      const seen = await until('the poll', shown(id))
      expect(seen.poll.options.join() === values.join() && seen.poll.maxAnswers === 1, `the phone shows ${JSON.stringify(seen)}`)
      await sandbox.vote(friend, id, 'Cartão')
      const vote = await until('the vote', () => device().received.find((one) => one.message.message?.pollUpdateMessage?.pollCreationMessageKey?.id === id))
      const mine = [device().creds.me.id, device().creds.me.lid].map(jidNormalizedUser)
      const theirs = [vote.chat, vote.chatAlt].filter(Boolean).map(jidNormalizedUser)
      const options = readVote(vote.message.message.pollUpdateMessage.vote, id, device().sent.get(id).messageContextInfo.messageSecret, mine, theirs)
      expect(options?.join() === sha256('Cartão'), `the vote says ${options}`)
    }],

    ["a phone's poll arrives", async () => {
      const id = await sandbox.post(friend, { to: own, type: 'poll', text: 'Quando?', options: ['Hoje', 'Amanhã'], maxAnswers: 1 })
      const { message } = await until('the poll', () => device().received.find((one) => one.id === id))
      const poll = message.message.pollCreationMessage ?? message.message.pollCreationMessageV3
      expect(poll?.name === 'Quando?' && poll.options.map((one) => one.optionName).join() === 'Hoje,Amanhã', `it is ${JSON.stringify(message.message)}`)
    }],

    ['a calendar event reaches the phone, and its response is readable', async () => {
      const startDate = new Date('2031-05-06T13:00:00Z')
      const event = { name: 'Consulta', description: 'Traga os exames', startDate, endDate: new Date('2031-05-06T14:00:00Z'), extraGuestsAllowed: true, location: { name: 'Clínica' } }
      const id = await device().post(chat, { event })
      const seen = await until('the event', shown(id))
      expect(seen.text === 'Consulta' && seen.event.start === '2031-05-06T13:00:00Z' && seen.event.end === '2031-05-06T14:00:00Z' && seen.event.location.name === 'Clínica',
        `the phone shows ${JSON.stringify(seen)}`)
      await sandbox.respond(friend, id, 'maybe', 1)
      const response = await until('the response', () => device().received.find((one) => one.message.message?.encEventResponseMessage?.eventCreationMessageKey?.id === id))
      const mine = [device().creds.me.id, device().creds.me.lid].map(jidNormalizedUser)
      const theirs = [response.chat, response.chatAlt].filter(Boolean).map(jidNormalizedUser)
      const secret = device().sent.get(id).messageContextInfo.messageSecret
      const opened = readResponse(response.message.message.encEventResponseMessage, id, secret, mine, theirs)
      expect(opened?.response === 3 && opened.extraGuestCount === 1, `the response says ${JSON.stringify(opened)}`)
    }],

    ["a phone's calendar event arrives", async () => {
      const id = await sandbox.post(friend, { to: own, type: 'event', text: 'Entrega', event: { start: '2031-05-06T13:00:00Z', joinLink: 'https://example.com/room' } })
      const { message } = await until('the event', () => device().received.find((one) => one.id === id))
      const event = message.message.eventMessage
      expect(event?.name === 'Entrega' && Number(event.startTime) === Date.parse('2031-05-06T13:00:00Z') / 1000 && event.joinLink === 'https://example.com/room',
        `it is ${JSON.stringify(message.message)}`)
    }],

    ['mentions go both ways', async () => {
      const group = (await sandbox.createGroup('Mentions', friend, own)).id
      await until('the group', () => device().groups.some((one) => one.id === group))
      const id = await device().post(group, { text: `@${friend} look`, mentions: [chat] })
      const seen = await until('the text', shown(id))
      expect(JSON.stringify(seen.mentions).includes(friend), `the phone shows ${JSON.stringify(seen)}`)
      const back = await sandbox.post(friend, { to: group, type: 'text', text: `@${own} seen`, mentions: [own] })
      const { message } = await until('the answer', () => device().received.find((one) => one.id === back && one.text))
      expect(message.message.extendedTextMessage?.contextInfo?.mentionedJid?.length === 1, `it is ${JSON.stringify(message.message)}`)
    }],

    ['what the account says of itself is seen', async () => {
      await device().socket.updateProfileStatus('open until six')
      expect((await sandbox.phone(own)).about === 'open until six', `it says ${(await sandbox.phone(own)).about}`)
    }],

    ['privacy settings are changed and read', async () => {
      await device().socket.updateLastSeenPrivacy('contacts')
      await device().socket.updateReadReceiptsPrivacy('none')
      await device().socket.updateDefaultDisappearingMode(604_800)
      const now = await device().socket.fetchPrivacySettings(true)
      expect(now.last === 'contacts' && now.readreceipts === 'none', `they are ${JSON.stringify(now)}`)
      await device().socket.updateReadReceiptsPrivacy('all')
      await device().socket.fetchPrivacySettings(true) // the library remembers what it has read
    }],

    ['a call rings, and the caller sees that it is rejected', async () => {
      const calls = []
      device().socket.ev.on('call', (some) => calls.push(...some))
      const id = await sandbox.ring(friend, own)
      const call = await until('the call', () => calls.find((one) => one.id === id && one.status === 'offer'))
      await device().socket.rejectCall(call.id, call.from)
      await until('the rejection', async () => (await sandbox.activity(friend)).some((one) => one.type === 'call' && one.value === 'rejected_elsewhere'))
      const missed = await sandbox.ring(friend, own)
      await until('the next call', () => calls.some((one) => one.id === missed && one.status === 'offer'))
      await sandbox.call('POST', `/phones/${friend}/calls/${missed}/end`, { how: 'timeout' })
      await until('its end', () => calls.some((one) => one.id === missed && one.status === 'timeout'))
    }],

    ['whose presence it follows comes and goes', async () => {
      const shown = []
      device().socket.ev.on('presence.update', ({ presences }) => shown.push(...Object.values(presences)))
      await sandbox.presence(friend, 'available')
      await device().socket.presenceSubscribe(chat)
      await until('the presence as it is', () => shown.some((one) => one.lastKnownPresence === 'available'))
      await sandbox.presence(friend, 'unavailable')
      await until('the end of it', () => shown.some((one) => one.lastKnownPresence === 'unavailable' && one.lastSeen > 0))
    }],

    ['the phone hands over older messages on request', async () => {
      const ids = []
      for (const text of ['older one', 'older two', 'newest']) ids.push(await sandbox.send(friend, own, text))
      const newest = await until('the newest', () => device().received.find((one) => one.id === ids[2]))
      const answers = []
      device().socket.ev.on('messaging-history.set', (part) => answers.push(part))
      const request = await device().socket.fetchMessageHistory(2, newest.key ?? newest.message.key, newest.message.messageTimestamp)
      const answer = await until('the answer', () => answers.find((one) => one.peerDataRequestSessionId === request))
      const given = answer.messages.map((one) => one.key.id)
      expect(given.length === 2 && given.includes(ids[0]) && given.includes(ids[1]), `it has ${given} of ${ids}`)
    }],

    ['who is blocked is on the list, and is heard no more', async () => {
      await device().socket.updateBlockStatus(chat, 'block')
      const { lid } = await sandbox.phone(friend)
      expect((await device().socket.fetchBlocklist()).includes(lid), 'it is not on the list')
      const unheard = await sandbox.send(friend, own, 'unheard')
      await device().socket.updateBlockStatus(chat, 'unblock')
      expect(!(await device().socket.fetchBlocklist()).includes(lid), 'it is still on the list')
      const heard = await sandbox.send(friend, own, 'heard')
      await until('the next text', () => device().received.some((one) => one.id === heard))
      expect(!device().received.some((one) => one.id === unheard), 'what was written meanwhile came')
    }]
  ]
}

const sha256 = (text) => createHash('sha256').update(text).digest('hex')

/** Decrypts a vote, whichever addresses it was made with. Returns the hashes of what was chosen. */
function readVote(vote, pollMsgId, pollEncKey, creators, voters) {
  for (const pollCreatorJid of creators) {
    for (const voterJid of voters) {
      try {
        const { selectedOptions } = decryptPollVote(vote, { pollCreatorJid, pollMsgId, pollEncKey, voterJid })
        return selectedOptions.map((one) => Buffer.from(one).toString('hex'))
      } catch {
        // It was made with other addresses.
      }
    }
  }
  return undefined
}

/** Decrypts a response to a calendar event, whichever addresses it was made with. */
function readResponse(response, eventMsgId, eventEncKey, creators, responders) {
  for (const eventCreatorJid of creators) {
    for (const responderJid of responders) {
      try {
        return decryptEventResponse(response, { eventCreatorJid, eventMsgId, eventEncKey, responderJid })
      } catch {
        // It was made with other addresses.
      }
    }
  }
  return undefined
}
