// Checks of what the members and administrators of groups do.

import { expect, until } from './wait.js'

/** Returns the checks. device() is the linked client; own, friend and silent are numbers. */
export function groupChecks({ sandbox, device, own, friend, silent }) {
  const address = (number) => `${number}@s.whatsapp.net`
  let group

  /** Expects that the platform refuses something with a code. */
  const refused = async (what, code) => {
    const error = await what.then(() => undefined, (reason) => reason)
    expect(error?.data === code, `it is answered with ${error ? `${error.data} (${error.message})` : 'yes'}, not ${code}`)
  }

  return [
    ['members of a group are promoted, demoted, removed and added, each with a result', async () => {
      group = (await device().socket.groupCreate('Results', [address(friend)])).id
      for (const [action, number] of [['promote', friend], ['demote', friend], ['remove', friend], ['add', friend]]) {
        const results = await device().socket.groupParticipantsUpdate(group, [address(number)], action)
        expect(results.length === 1 && results[0].status === '200', `${action} is answered with ${JSON.stringify(results)}`)
      }
      const { participants } = await sandbox.group(group)
      expect(participants.length === 2, `it has ${JSON.stringify(participants)}`)
    }],

    ['who does not let others add him has to be invited', async () => {
      await sandbox.update(silent, { addToGroups: false })
      const [result] = await device().socket.groupParticipantsUpdate(group, [address(silent)], 'add')
      await sandbox.update(silent, { addToGroups: true })
      expect(result.status === '403', `it is answered with ${JSON.stringify(result)}`)
      expect(JSON.stringify(result.content).includes('add_request'), `there is no invitation: ${JSON.stringify(result)}`)
    }],

    ["a group's settings are changed, and the phones see it", async () => {
      await device().socket.groupSettingUpdate(group, 'announcement')
      await device().socket.groupSettingUpdate(group, 'locked')
      await device().socket.groupMemberAddMode(group, 'admin_add')
      await device().socket.groupToggleEphemeral(group, 86_400)
      const now = await sandbox.groupSettings(group)
      expect(now.announce && now.locked && now.adminsAdd && now.disappearing === 86_400, `it has ${JSON.stringify(now)}`)
      const known = await device().socket.groupMetadata(group)
      expect(known.announce && known.restrict && known.ephemeralDuration === 86_400, `the client sees ${JSON.stringify(known)}`)
    }],

    ['the link to a group is looked at and reset', async () => {
      const code = await device().socket.groupInviteCode(group)
      const seen = await device().socket.groupGetInviteInfo(code)
      expect(seen.id === group && seen.subject === 'Results', `it leads to ${JSON.stringify(seen)}`)
      const next = await device().socket.groupRevokeInvite(group)
      expect(next !== code, 'it is the same as before')
      await refused(device().socket.groupGetInviteInfo(code), 410)
    }],

    ['who wants to join a group is approved or rejected', async () => {
      await device().socket.groupJoinApprovalMode(group, 'on')
      await sandbox.join(silent, await device().socket.groupInviteCode(group))
      const asking = await device().socket.groupRequestParticipantsList(group)
      expect(asking.length === 1, `there are ${JSON.stringify(asking)}`)
      const [answer] = await device().socket.groupRequestParticipantsUpdate(group, [asking[0].jid], 'approve')
      expect(answer.status === '200', `it is answered with ${JSON.stringify(answer)}`)
      expect((await sandbox.group(group)).participants.length === 3, 'it is no member')
    }],

    ['a client joins by a link, and may not what only administrators may', async () => {
      const theirs = (await sandbox.createGroup('Theirs', friend, silent)).id
      const { invite } = await sandbox.groupSettings(theirs)
      expect(await device().socket.groupAcceptInvite(invite) === theirs, 'it is in another group')
      expect((await sandbox.group(theirs)).participants.length === 3, 'it is no member')
      await sandbox.changeGroup(theirs, { by: friend, locked: true })
      await refused(device().socket.groupUpdateSubject(theirs, 'Mine'), 403)
      await refused(device().socket.groupParticipantsUpdate(theirs, [address(silent)], 'promote'), 403)
      await device().socket.groupLeave(theirs)
    }],

    ['groups are linked to a community and unlinked', async () => {
      const community = await device().socket.communityCreate('Neighbours', 'of the shop')
      await device().socket.communityLinkGroup(group, community.id)
      const linked = await device().socket.communityFetchLinkedGroups(community.id)
      expect(JSON.stringify(linked).includes(group.split('@')[0]), `it has ${JSON.stringify(linked)}`)
      expect((await sandbox.groupSettings(group)).community === community.id, 'the phones do not see it')
      await device().socket.communityUnlinkGroup(group, community.id)
      expect((await sandbox.groupSettings(group)).community === null, 'the phones still see it')
      expect((await sandbox.group(group)).participants.some((one) => JSON.stringify(one).includes(own)), 'it is in the group no more')
    }]
  ]
}
