// Runs docs/recipes/n8n.json in n8n's engine: it is the webhook of the gateway whose ready file is given as the argument, and
// simulated phones write to it. Prints a line per check; ends with 1 if one failed.

import { readFile } from 'node:fs/promises'

import { Sandbox } from '../secondclient/control.js'
import { expect, until } from '../secondclient/wait.js'
import { serve } from './workflow.js'

const gateway = JSON.parse(await readFile(process.argv[2], 'utf8'))
const sandbox = new Sandbox(gateway.baseUrl)
const exported = JSON.parse(await readFile(new URL('../../docs/recipes/n8n.json', import.meta.url), 'utf8'))
const voice = await readFile(new URL('../../internal/media/testdata/voice.ogg', import.meta.url))

const secret = 'a long text that nobody guesses'
const customer = '5511988887766'
const colleague = '5511977776655'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** Calls the gateway's API. */
async function api(method, path, body) {
  const response = await fetch(gateway.baseUrl + path, {
    method, headers: { 'x-api-key': gateway.apiKey, 'content-type': 'application/json' }, body: body && JSON.stringify(body),
  })
  expect(response.ok, `${path} is answered ${response.status}`)
  return response.json()
}

// The three placeholders are what a person fills in; nothing else is changed.
const given = { url: gateway.baseUrl, apiKey: gateway.apiKey, secret }
const placeholders = []
for (const field of exported.nodes.find((node) => node.name === 'Settings').parameters.assignments.assignments) {
  placeholders.push(field.value)
  field.value = given[field.name]
}

const print = console.log
for (const method of ['log', 'info', 'warn', 'error', 'debug']) console[method] = () => {}

const flow = await serve(exported)
const webhook = await api('POST', `/api/instances/${gateway.instanceId}/webhook-config`, { webhookUrl: flow.address, secret, events: ['message.received'], chats: ['direct', 'group'] })

/** What the phone of a number shows of the flow's answers. */
const answers = async (number = customer) => (await sandbox.messages(number)).filter((message) => !message.fromMe)

/** Sends something from the customer's phone, and returns the flow's answer. */
async function asks(message) {
  const before = (await answers()).length
  const id = await sandbox.post(customer, { to: gateway.instanceNumber, ...message })
  const answer = await until('the answer', async () => (await answers())[before])
  return { id, answer }
}

/** What became of events at the flow, and what waits for it. */
const deliveries = () => api('GET', `/api/instances/${gateway.instanceId}/webhooks/${webhook.id}/deliveries`)

/** The status with which the flow answers a request that nobody has signed. */
const posted = async (headers) => (await fetch(flow.address, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{"type":"message.received","data":{}}' })).status

const checks = [
  ['the file has placeholders and no credentials', () => {
    expect(placeholders.join() === 'http://recado:8080,PASTE_YOUR_API_KEY,PASTE_THE_SECRET_OF_THE_WEBHOOK', placeholders.join())
    expect(exported.nodes.every((node) => !node.credentials), 'a node has credentials')
  }],
  ['a text is answered as a reply', async () => {
    const { id, answer } = await asks({ type: 'text', text: 'Vocês abrem hoje? "Às 9" \\o/' })
    expect(answer.text === 'You wrote: Vocês abrem hoje? "Às 9" \\o/', `the answer is ${JSON.stringify(answer)}`)
    expect(JSON.stringify(answer).includes(id), 'it is no reply')
  }],
  ...Object.entries({
    picture: ['image', Buffer.from(png, 'base64'), 'image/png'],
    document: ['document', Buffer.from('%PDF-1.4\n%%EOF\n'), 'application/pdf', 'pedido.pdf'],
    'voice note': ['voice', voice, 'audio/ogg'],
  }).map(([name, [type, content, kind, fileName]]) => [`a ${name} is fetched and comes back`, async () => {
    const { answer } = await asks({ type, media: `data:${kind};base64,${content.toString('base64')}`, fileName })
    expect(answer.type === 'document' && answer.caption === 'Here is your file', JSON.stringify(answer))
    const { url } = await api('GET', `/api/message/${gateway.instanceId}/media-download-link/${answer.messageId}`)
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(content), 'it is another file')
  }]),
  ['something else is answered too', async () => {
    const { answer } = await asks({ type: 'location', latitude: -23.5614, longitude: -46.6559 })
    expect(answer.text.startsWith('I understand texts'), JSON.stringify(answer))
  }],
  ['a group is left alone, and its event is accepted', async () => {
    const group = await sandbox.createGroup('Clientes', colleague, gateway.instanceNumber)
    await sandbox.send(colleague, group.id, 'Bom dia a todos')
    await until('the delivery', async () => (await deliveries()).data.some(({ chat, state }) => chat === group.id && state === 'delivered'))
    expect((await answers(colleague)).length === 0, 'it is answered')
  }],
  ['what the gateway has not signed is refused', async () => {
    expect(await posted({}) === 401, 'without a signature')
    expect(await posted({ 'webhook-id': 'a', 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`, 'webhook-signature': 'v1,AAAA' }) === 401, 'with a wrong signature')
    expect(await posted({ 'webhook-id': 'a', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }) === 401, 'of long ago')
  }],
  ['an event that is delivered again is answered once', async () => {
    const before = (await answers()).length
    const { events } = await api('POST', `/api/instances/${gateway.instanceId}/webhooks/${webhook.id}/replay`, { fromSequence: 1 })
    expect(events > 0, 'nothing is delivered again')
    await until('the deliveries', async () => (await deliveries()).delivery.pendingEvents === 0)
    expect((await answers()).length === before, 'it is answered twice')
  }],
  ['no execution failed', () => expect(flow.failures.length === 0, flow.failures.map((failure) => `${failure.message} ${failure.description}`).join('; '))],
]

let failed = 0
for (const [title, check] of checks) {
  try {
    await check()
    print(`ok    ${title}`)
  } catch (error) {
    failed++
    print(`FAIL  ${title}: ${error.stack}`)
  }
}
flow.close()
print(`${checks.length - failed} of ${checks.length} checks of the recipe passed`)
process.exit(failed ? 1 : 0)
