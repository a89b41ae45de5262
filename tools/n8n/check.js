// Runs every operation in the menu of the n8n node of the Evolution API, in n8n's engine, against the gateway whose ready file is
// given as the argument. Prints a line per operation; ends with 1 if one failed, or if one of the menu was not run.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

import { Sandbox } from '../secondclient/control.js'
import { expect, until } from '../secondclient/wait.js'
import { credentialTest, description, run } from './engine.js'

const gateway = JSON.parse(await readFile(process.argv[2], 'utf8'))
const sandbox = new Sandbox(gateway.baseUrl)
const server = `${gateway.baseUrl}/evolution`
const all = { 'server-url': server, apikey: gateway.partnerKey }
const own = { 'server-url': server, apikey: 'the-key-that-the-flow-has-chosen' }

const name = 'Loja São Paulo'
const shop = '5511999990102'
const customer = '5511988887766'
const colleague = '5511977776655'
const jid = (number) => `${number}@s.whatsapp.net`
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const files = new URL('../../internal/media/testdata/', import.meta.url)

// What a flow would have as its address: it keeps what is posted, and has the files that are sent by link.
const posted = []
const flow = createServer(async (request, response) => {
  if (request.method === 'POST') {
    let body = ''
    for await (const part of request) body += part
    posted.push(JSON.parse(body))
    response.end()
    return
  }
  const content = request.url === '/picture.png' ? Buffer.from(png, 'base64') : await readFile(new URL(request.url.slice(1), files)).catch(() => null)
  response.writeHead(content ? 200 : 404).end(content ?? '')
})
await new Promise((resolve) => flow.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${flow.address().port}/`

const done = new Set()
let key = own

/** Runs an operation, and returns what the node gives on. */
async function node(resource, operation, parameters = {}) {
  done.add(`${resource}/${operation}`)
  const result = await run(key, `${resource}-api`, operation, { instanceName: name, ...parameters })
  if (operation === 'send-document') return result
  expect(result.success === true, `the node gives ${JSON.stringify(result)}`)
  return result.data
}

/** Runs an operation that is refused, with the status and words in the answer that the node shows. */
async function refused(status, words, ...operation) {
  const failure = await node(...operation).then((result) => { throw new Error(`it gives ${JSON.stringify(result)}`) }, (error) => error)
  const shown = `${failure.message}: ${failure.description}`
  expect(shown.includes(`${status} - `) && shown.includes(words), `n8n shows ${shown}`)
}

/** What a number's phone shows last. */
const newest = async (number) => (await sandbox.messages(number)).at(-1)

/** Sends something, and returns its key once the customer's phone shows it. */
async function sends(type, operation, parameters) {
  const message = await node('messages', operation, { remoteJid: customer, ...parameters })
  expect(message.messageType === type, `it is ${JSON.stringify(message)}`)
  await until('the message', async () => (await sandbox.messages(customer)).some((one) => one.messageId === message.key.id))
  return message
}

// The engine and its node write what fails to the console too.
const print = console.log
for (const method of ['log', 'info', 'warn', 'error', 'debug']) console[method] = () => {}

let text, picture, group, invite

const checks = [
  ['the credential is tested', async () => {
    const { url, ...request } = credentialTest(own)
    expect((await fetch(url, request)).status === 401, 'a wrong key passes')
    expect((await fetch(credentialTest(all).url, credentialTest(all))).status === 200, 'the right key does not pass')
    expect((await fetch(credentialTest({ ...all, 'server-url': `${server}/` }).url, request)).status >= 400, 'a slash at the end passes')
  }],

  ['instance-basic', async () => {
    key = all
    const made = await node('instances', 'instance-basic', {
      token: own.apikey, options_Create_instance: {
        instanceSettings: { settings: { rejectCall: true, msgCall: 'Ligue mais tarde', alwaysOnline: false } },
        webhook: { webhookSettings: { webhookUrl: address, webhookEvents: ['MESSAGES_UPSERT', 'SEND_MESSAGE', 'CONNECTION_UPDATE'] } },
      },
    })
    expect(made.instance.instanceName === name && made.hash === own.apikey && made.settings.rejectCall === true, JSON.stringify(made))
    await refused(403, 'already in use', 'instances', 'instance-basic')
    key = own
  }],

  ['instance-connect', async () => {
    const code = await node('instances', 'instance-connect')
    expect(code.code.includes('2@') && code.base64.startsWith('data:image/png;base64,'), JSON.stringify(code))
    await sandbox.update(shop, { name: 'Loja' })
    await sandbox.update(customer, { name: 'Ana' })
    await sandbox.update(colleague, { name: 'Bia' })
    await sandbox.scan(shop, code.code)
    await until('the connection', async () => (await node('instances', 'fetch-instances'))[0].connectionStatus === 'open')
  }],

  ['fetch-instances', async () => {
    const listed = await node('instances', 'fetch-instances', { instanceName: '' })
    const [{ ownerJid, ...one }] = listed
    expect(listed.length === 1 && one.name === name && ownerJid === jid(shop), `there are ${listed.length}, the first of ${ownerJid}, ${one.name}`)
    await refused(404, 'not found', 'instances', 'fetch-instances', { instanceName: 'nobody' })
  }],

  ['instance-settings', async () => {
    const { settings } = await node('instances', 'instance-settings', { rejectCall: true, msgCall: 'Não agora' })
    expect(settings.settings.msgCall === 'Não agora', JSON.stringify(settings))
  }],

  ['set-presence', async () => {
    // A phone tells the new device the account's name, and without it no presence can be sent.
    const set = await until('the name', () => node('instances', 'set-presence', { presence: 'available' }).catch(() => null))
    expect(set.presence === 'available', JSON.stringify(set))
  }],

  ['set-proxy', async () => {
    await refused(400, 'proxy', 'instances', 'set-proxy', { resourceForProxy: 'setProxy', proxyHost: '127.0.0.1', proxyPort: '9', proxyUsername: 'a', proxyPassword: 'b' })
    await refused(404, 'roxy', 'instances', 'set-proxy', { resourceForProxy: 'findProxy' })
  }],

  ['restart-instance', async () => {
    await node('instances', 'restart-instance')
    await until('the connection', async () => (await node('instances', 'fetch-instances'))[0].connectionStatus === 'open')
  }],

  ['webhook', async () => {
    const set = await node('events', 'webhook', { resourceForWebhook: 'setWebhook', webhookUrl: address, webhookEvents: ['MESSAGES_UPSERT', 'SEND_MESSAGE', 'MESSAGES_UPDATE'] })
    expect(set.enabled === true && set.url === address, JSON.stringify(set))
    const found = await node('events', 'webhook', { resourceForWebhook: 'findWebhook' })
    expect(found.url === address && found.events.includes('SEND_MESSAGE'), JSON.stringify(found))
  }],

  ['send-text', async () => {
    const id = await sandbox.send(customer, shop, 'Tem camiseta?')
    const asked = await until('the event', () => posted.find((one) => one.event === 'messages.upsert' && one.data.key.id === id))
    expect(asked.instance === name && asked.data.message.conversation === 'Tem camiseta?' && asked.data.pushName === 'Ana', JSON.stringify(asked))
    text = await sends('conversation', 'send-text', {
      remoteJid: asked.data.key.remoteJid, messageText: 'Tem, *sim*',
      options_message: { delay: 100, linkPreview: false, quoted: { messageQuoted: { messageId: id } }, mentions: { mentionsSettings: { mentionsEveryOne: false, mentioned: customer } } },
    })
    expect(text.contextInfo.stanzaId === id && text.status === 'PENDING', JSON.stringify(text))
    const told = await until('the event', () => posted.find((one) => one.event === 'send.message' && one.data.key.id === text.key.id))
    expect(told.data.key.remoteJid === text.key.remoteJid, `${JSON.stringify(told)} is told of ${JSON.stringify(text)}`)
    await refused(400, '"exists":false', 'messages', 'send-text', { remoteJid: '5511900000000', messageText: 'Oi' })
  }],

  ['send-image', async () => {
    picture = await sends('imageMessage', 'send-image', { media: png, caption: 'Esta' })
    expect(picture.message.imageMessage.caption === 'Esta', JSON.stringify(picture))
    await sends('imageMessage', 'send-image', { media: `${address}picture.png` })
  }],
  ['send-video', () => sends('videoMessage', 'send-video', { media: `${address}clip.mp4`, caption: 'Veja' })],
  ['send-audio', async () => {
    const { message } = await sends('audioMessage', 'send-audio', { media: `${address}tone.mp3` })
    expect(message.audioMessage.ptt === true, JSON.stringify(message))
  }],
  ['send-document', async () => {
    const { message } = await sends('documentMessage', 'send-document', { media: `${address}tone.m4a`, fileName: 'conta.pdf', caption: 'A conta' })
    expect(message.documentMessage.fileName === 'conta.pdf', JSON.stringify(message))
  }],
  ['send-poll', () => sends('pollCreationMessageV3', 'send-poll', { caption: 'Qual?', options_display: { metadataValues: [{ optionValue: 'P' }, { optionValue: 'M' }] } })],
  ['send-contact', async () => {
    const contact = (number) => ({ fullName: `Loja ${number}`, wuid: number, phoneNumber: `+${number}`, organization: 'Loja', email: 'a@example.org', url: 'https://example.org' })
    await sends('contactMessage', 'send-contact', { contacts: { contactValues: [contact(colleague)] } })
    await sends('contactsArrayMessage', 'send-contact', { contacts: { contactValues: [contact(colleague), contact(shop)] } })
  }],
  ['send-reaction', async () => {
    const { message } = await node('messages', 'send-reaction', { remoteJid: jid(customer), messageId: text.key.id, fromMe: true, reaction: '👍' })
    expect(message.reactionMessage.text === '👍', JSON.stringify(message))
  }],
  ['send-stories', async () => {
    const { key: told } = await node('messages', 'send-stories', { type: 'text', content: 'Aberto', backgroundColor: '#00ff00', font: 1, allContacts: true })
    expect(told.remoteJid === 'status@broadcast', JSON.stringify(told))
  }],

  ['send-buttons', async () => {
    const asked = await sends('pollCreationMessageV3', 'send-buttons', {
      title: 'Tamanho', description: 'Qual é o seu?', footer: 'Loja', buttons: { buttonValues: [
        { type: 'reply', displayText: 'Pequeno', id: 'P' }, { type: 'reply', displayText: 'Grande', id: 'G' }, { type: 'url', displayText: 'Site', url: 'https://example.org' },
      ] },
    })
    await sandbox.vote(customer, asked.key.id, 'Grande')
    const { data } = await until('the answer', () => posted.find((one) => one.data.messageType === 'buttonsResponseMessage' && one.data.contextInfo?.stanzaId === asked.key.id))
    expect(data.message.buttonsResponseMessage.selectedButtonId === 'G', JSON.stringify(data))
  }],
  ['send-list', async () => {
    const asked = await sends('pollCreationMessageV3', 'send-list', {
      title: 'Menu', description: 'Escolha', buttonText: 'Ver', footerText: 'Loja',
      sections: { sectionValues: [{ title: 'Roupas', rows: { rowValues: [{ title: 'Camiseta', description: 'Azul', rowId: 'r1' }, { title: 'Calça', rowId: 'r2' }] } }] },
    })
    await sandbox.send(customer, shop, 'calca')
    const { data } = await until('the answer', () => posted.find((one) => one.event === 'messages.upsert' && one.data.contextInfo?.stanzaId === asked.key.id))
    expect(JSON.stringify(data.message).includes('r2'), JSON.stringify(data))
  }],
  ['send-pix', async () => {
    const { message } = await sends('conversation', 'send-pix', { name: 'Loja', keyType: 'email', key: 'pix@example.org' })
    expect(message.conversation.includes('pix@example.org'), JSON.stringify(message))
  }],

  ['check-number', async () => {
    const found = await node('chat', 'check-number', { numbers: `${customer}, 5511900000000` })
    expect(found[0].exists === true && found[0].jid === jid(customer) && found[1].exists === false, JSON.stringify(found))
  }],
  ['read-messages', async () => {
    const id = await sandbox.send(customer, shop, 'Obrigada')
    await until('the event', () => posted.find((one) => one.data.key?.id === id))
    expect((await node('chat', 'read-messages', { remoteJid: jid(customer), messageId: id, fromMe: false })).read === 'success', 'it is not read')
    await until('the receipt', async () => (await sandbox.messages(customer)).find((one) => one.messageId === id).status === 'read')
  }],
  ['find-messages', async () => {
    const { messages } = await node('chat', 'find-messages', { remoteJid: jid(customer), page: 1, offset: 5 })
    expect(messages.records.length === 5 && messages.total > 10 && messages.currentPage === 1, JSON.stringify(messages))
  }],
  ['find-status-messages', async () => {
    const [status] = await node('chat', 'find-status-messages', { remoteJid: jid(customer), messageId: text.key.id })
    expect(status.keyId === text.key.id && ['SERVER_ACK', 'DELIVERY_ACK', 'READ'].includes(status.status), JSON.stringify(status))
  }],
  ['find-chats', async () => {
    const [chat] = await node('chat', 'find-chats', { remoteJid: jid(customer), messageId: text.key.id })
    expect(chat.remoteJid === jid(customer) && chat.lastMessage.key.id, JSON.stringify(chat))
  }],
  ['find-contacts', async () => {
    const one = await node('chat', 'find-contacts', { listAll: false, remoteJid: jid(customer) })
    expect(one.length === 1 && one[0].pushName === 'Ana', JSON.stringify(one))
    expect((await node('chat', 'find-contacts', { listAll: true })).some((contact) => contact.remoteJid === jid(customer)), 'the contact is missing')
  }],
  ['get-media-base64', async () => {
    const id = await sandbox.post(customer, { to: shop, type: 'image', media: `data:image/png;base64,${png}` })
    await until('the event', () => posted.find((one) => one.data.key?.id === id))
    const file = await node('chat', 'get-media-base64', { messageId: id, convertToMp4: false })
    expect(file.mediaType === 'imageMessage' && file.base64 === png, JSON.stringify(file).slice(0, 300))
    await refused(400, '', 'chat', 'get-media-base64', { messageId: text.key.id, convertToMp4: false })
  }],
  ['update-message', async () => {
    await node('chat', 'update-message', { remoteJid: jid(customer), messageId: text.key.id, text: 'Tem, sim!' })
    await until('the new text', async () => (await sandbox.messages(customer)).find((one) => one.messageId === text.key.id).text === 'Tem, sim!')
  }],
  ['delete-message', async () => {
    const { message } = await node('chat', 'delete-message', { remoteJid: jid(customer), messageId: picture.key.id, fromMe: true })
    expect(message.protocolMessage.type === 'REVOKE', JSON.stringify(message))
  }],
  ['send-presence', async () => {
    expect((await node('chat', 'send-presence', { remoteJid: customer, presence: 'recording', delay: 50 })).presence === 'recording', 'it is not shown')
  }],
  ['manage-archive', async () => {
    expect((await node('chat', 'manage-archive', { chat: jid(customer), archive: true, messageId: text.key.id, fromMe: true })).archived === true, 'it is not archived')
    await node('chat', 'manage-archive', { chat: jid(customer), archive: false, messageId: text.key.id, fromMe: true })
  }],
  ['mark-unread', async () => {
    expect((await node('chat', 'mark-unread', { chat: jid(customer), messageId: text.key.id, fromMe: true })).markedChatUnread === true, 'it is not marked')
  }],
  ['fetch-profile-picture', async () => {
    expect((await node('chat', 'fetch-profile-picture', { number: customer })).wuid === jid(customer), 'it is of somebody else')
  }],
  ['block-contact', async () => {
    for (const status of ['block', 'unblock']) expect((await node('chat', 'block-contact', { remoteJid: jid(customer), status })).block === 'success', `${status} fails`)
  }],

  ['fetch-profile', async () => {
    const profile = await node('profile', 'fetch-profile', { remoteJid: customer })
    expect(profile.wuid === jid(customer) && profile.numberExists === true, JSON.stringify(profile))
  }],
  ['fetch-business-profile', async () => {
    expect((await node('profile', 'fetch-business-profile', { remoteJid: customer })).isBusiness === false, 'Ana is a business')
  }],
  ['update-profile-name', async () => {
    expect((await node('profile', 'update-profile-name', { name: 'Loja do centro' })).update === 'success', 'it is not changed')
  }],
  ['update-profile-status', async () => {
    expect((await node('profile', 'update-profile-status', { status: 'Aberto até as 18h' })).update === 'success', 'it is not changed')
  }],
  ['update-profile-picture', async () => {
    expect((await node('profile', 'update-profile-picture', { picture: `${address}picture.png` })).update === 'success', 'it is not changed')
  }],
  ['remove-profile-picture', async () => {
    expect((await node('profile', 'remove-profile-picture')).update === 'success', 'it is not removed')
  }],
  ['fetch-privacy-settings', async () => {
    expect((await node('profile', 'fetch-privacy-settings')).readreceipts, 'they are not there')
  }],
  ['update-privacy-settings', async () => {
    const changed = await node('profile', 'update-privacy-settings', { readreceipts: 'all', profile: 'contacts', status: 'contacts', online: 'all', last: 'contacts', groupadd: 'all' })
    expect(changed.update === 'success' && changed.data.profile === 'contacts', JSON.stringify(changed))
  }],

  ['create-group', async () => {
    group = (await node('groups', 'create-group', { subject: 'Equipe', description: 'Nós', participants: `${customer}, ${colleague}` })).id
    expect(group.endsWith('@g.us'), group)
  }],
  ['update-group-name', async () => {
    await node('groups', 'update-group-name', { groupJid: group, subject: 'A equipe' })
    expect((await sandbox.group(group)).subject === 'A equipe', 'it is not changed')
  }],
  ['update-group-description', () => node('groups', 'update-group-description', { groupJid: group, description: 'Todos nós' })],
  ['update-group-picture', () => node('groups', 'update-group-picture', { groupJid: group, image: `${address}picture.png` })],
  ['update-settings', () => node('groups', 'update-settings', { groupJid: group, action: 'announcement' })],
  ['toggle-ephemeral', () => node('groups', 'toggle-ephemeral', { groupJid: group, expiration: 86400 })],
  ['fetch-invite-code', async () => {
    invite = (await node('groups', 'fetch-invite-code', { groupJid: group })).inviteCode
    expect(invite, 'there is no code')
  }],
  ['fetch-groups', async () => {
    for (const parameters of [{ searchMethod: 'inviteCode', inviteCode: invite }, { searchMethod: 'groupJid', groupJid: group }]) {
      const found = await node('groups', 'fetch-groups', parameters)
      expect(found.id === group && found.subject === 'A equipe', JSON.stringify(found))
    }
    const [found] = await node('groups', 'fetch-groups', { searchMethod: 'fetchAll', getParticipants: true })
    expect(found.id === group && found.participants.length === 3, JSON.stringify(found))
  }],
  ['find-participants', async () => {
    expect((await node('groups', 'find-participants', { groupJid: group })).participants.length === 3, 'somebody is missing')
  }],
  ['update-participants', async () => {
    const { updateParticipants: [one] } = await node('groups', 'update-participants', { groupJid: group, action: 'remove', participants: colleague })
    expect(one.status === '200', JSON.stringify(one))
  }],
  ['send-invite-link', async () => {
    expect((await node('groups', 'send-invite-link', { groupJid: group, description: 'Entre', numbers: colleague })).send === true, 'it is not sent')
    await until('the link', async () => (await newest(colleague))?.text?.includes(invite))
  }],
  ['revoke-invite-code', async () => {
    expect((await node('groups', 'revoke-invite-code', { groupJid: group })).inviteCode !== invite, 'the code is the same')
  }],
  ['leave-group', async () => {
    expect((await node('groups', 'leave-group', { groupJid: group })).leave === true, 'it is still a member')
  }],
  ['join-group', async () => {
    const { id, inviteCode } = await sandbox.createGroup('Clientes', customer, colleague)
    const code = inviteCode ?? (await sandbox.groupSettings(id)).invite
    expect((await node('groups', 'join-group', { inviteCode: code })).groupJid === id, 'it is another group')
  }],

  ['rabbitmq', async () => {
    await refused(501, 'webhook', 'events', 'rabbitmq', { resourceForRabbitMQ: 'setRabbitMQ', rabbitMQEvents: ['CALL'] })
    await refused(501, 'webhook', 'events', 'rabbitmq', { resourceForRabbitMQ: 'findRabbitMQ' })
  }],
  ['chatwoot', () => refused(501, 'hatwoot', 'integrations', 'chatwoot', {
    resourceForChatwoot: 'setChatwoot', chatwootUrl: 'https://chatwoot.example.org', chatwootAccountId: '1', chatwootToken: 't',
  })],
  ['typebot', () => refused(501, 'bots', 'integrations', 'typebot', { resourceForTypebot: 'findTypebot' })],
  ['evolution-bot', () => refused(501, 'bots', 'integrations', 'evolution-bot', { resourceForEvolutionBot: 'findEvolutionBot' })],
  ['difyBot', () => refused(501, 'bots', 'integrations', 'difyBot', { resourceForDifyBot: 'findDify' })],
  ['flowiseBot, which the node itself does not know', async () => {
    const failure = await node('integrations', 'flowiseBot', { resourceForFlowiseBot: 'findFlowise' }).catch((error) => error)
    expect(`${failure.message} ${failure.description}`.includes('não é suportada'), `n8n shows ${failure.message}`)
  }],

  ['a name and a key that are not ours', async () => {
    await refused(404, 'does not exist', 'messages', 'send-text', { instanceName: 'demo', remoteJid: customer, messageText: 'Oi' })
    key = { ...own, apikey: 'somebody' }
    await refused(401, 'Unauthorized', 'messages', 'send-text', { remoteJid: customer, messageText: 'Oi' })
    key = own
  }],
  ['logout-instance', async () => {
    expect((await node('instances', 'logout-instance')).status === 'SUCCESS', 'it is still linked')
    expect((await node('instances', 'fetch-instances'))[0].connectionStatus === 'close', 'it is still connected')
  }],
  ['delete-instance', async () => {
    key = all
    expect((await node('instances', 'delete-instance')).status === 'SUCCESS', 'it is still there')
    await refused(404, 'not found', 'instances', 'fetch-instances')
  }],
  ['nothing of the menu is left out', () => {
    const left = description.properties.filter((field) => field.name === 'operation')
      .flatMap((menu) => menu.options.map((option) => `${menu.displayOptions.show.resource[0].replace(/-api$/, '')}/${option.value}`)).filter((one) => !done.has(one))
    expect(left.length === 0, left.join(', '))
  }],
]

let failed = 0
for (const [title, check] of checks) {
  try {
    await check()
    print(`ok    ${title}`)
  } catch (error) {
    failed++
    print(`FAIL  ${title}: ${error.description ?? error.stack}`)
  }
}
flow.close()
print(`${checks.length - failed} of ${checks.length} checks passed, ${done.size} operations of the node among them`)
process.exit(failed ? 1 : 0)
