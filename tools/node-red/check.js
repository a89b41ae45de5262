// Runs docs/recipes/node-red.json in Node-RED: it is the webhook of the gateway whose ready file is given as the argument, and
// simulated phones write to it. Prints a line per check; ends with 1 if one failed.

import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'

import RED from 'node-red'

import { Sandbox } from '../secondclient/control.js'
import { expect, until } from '../secondclient/wait.js'

const gateway = JSON.parse(await readFile(process.argv[2], 'utf8'))
const folder = process.env.SCRATCH
const sandbox = new Sandbox(gateway.baseUrl)
const flow = JSON.parse(await readFile(new URL('../../docs/recipes/node-red.json', import.meta.url), 'utf8'))
const voice = await readFile(new URL('../../internal/media/testdata/voice.ogg', import.meta.url))

const secret = `whsec_${Buffer.from('a key that nobody guesses').toString('base64')}`
const customer = '5511988887766'
const colleague = '5511977776655'
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

// The three placeholders are what a person fills in; nothing else is changed.
const given = { RECADO_URL: gateway.baseUrl, RECADO_API_KEY: gateway.apiKey, RECADO_SECRET: secret }
const placeholders = []
for (const variable of flow[0].env) {
  placeholders.push(variable.value)
  variable.value = given[variable.name]
}
await writeFile(join(folder, 'flows.json'), JSON.stringify(flow))

const server = createServer((request, response) => RED.httpNode(request, response))
RED.init(server, {
  userDir: folder, flowFile: 'flows.json', httpAdminRoot: false, httpNodeRoot: '/', functionExternalModules: true,
  logging: { console: { level: 'error', metrics: false, audit: false } },
})
await RED.start()
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const address = `http://127.0.0.1:${server.address().port}/recado`
// Node-RED serves before the flow is there.
await until('the flow', async () => (await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })).status === 401)

/** Calls the gateway's API. */
async function api(method, path, body) {
  const response = await fetch(gateway.baseUrl + path, {
    method, headers: { 'x-api-key': gateway.apiKey, 'content-type': 'application/json' }, body: body && JSON.stringify(body),
  })
  expect(response.ok, `${path} is answered ${response.status}`)
  return response.json()
}

const webhook = await api('POST', `/api/instances/${gateway.instanceId}/webhook-config`, { webhookUrl: address, secret, events: ['message.received'] })

/** What became of events at the flow, and what waits for it. */
const deliveries = () => api('GET', `/api/instances/${gateway.instanceId}/webhooks/${webhook.id}/deliveries`)

/** What the phone of a number shows of the flow's answers. */
const answers = async (number = customer) => (await sandbox.messages(number)).filter((message) => !message.fromMe)

/** Sends something from the customer's phone, and returns the flow's answer. */
async function asks(message) {
  const before = (await answers()).length
  const id = await sandbox.post(customer, { to: gateway.instanceNumber, ...message })
  return { id, answer: await until('the answer', async () => (await answers())[before]) }
}

/** The status with which the flow answers a request that nobody has signed. */
const posted = async (headers) => (await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: '{}' })).status

const checks = [
  ['the file has placeholders, and core nodes alone', () => {
    expect(placeholders.join() === 'http://127.0.0.1:8080,PASTE_YOUR_API_KEY,PASTE_THE_SECRET_OF_THE_WEBHOOK', placeholders.join())
    const types = new Set(flow.map((node) => node.type))
    expect([...types].sort().join() === 'function,http in,http request,http response,switch,tab', [...types].join())
  }],
  ['a text is answered as a reply', async () => {
    const { id, answer } = await asks({ type: 'text', text: 'Vocês abrem hoje? "Às 9" \\o/' })
    expect(answer.text === 'You wrote: Vocês abrem hoje? "Às 9" \\o/', JSON.stringify(answer))
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
    const now = `${Math.floor(Date.now() / 1000)}`
    expect(await posted({ 'webhook-id': 'a', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' }) === 401, 'with a wrong signature')
    expect(await posted({ 'webhook-id': 'a', 'webhook-timestamp': now }) === 401, 'without a signature')
  }],
  ['an event that is delivered again is answered once', async () => {
    const before = (await answers()).length
    const { events } = await api('POST', `/api/instances/${gateway.instanceId}/webhooks/${webhook.id}/replay`, { fromSequence: 1 })
    expect(events > 0, 'nothing is delivered again')
    await until('the deliveries', async () => (await deliveries()).delivery.pendingEvents === 0)
    expect((await answers()).length === before, 'it is answered twice')
  }],
]

let failed = 0
for (const [title, check] of checks) {
  try {
    await check()
    console.log(`ok    ${title}`)
  } catch (error) {
    failed++
    console.log(`FAIL  ${title}: ${error.stack}`)
  }
}
console.log(`${checks.length - failed} of ${checks.length} checks of the recipe passed`)
process.exit(failed ? 1 : 0)
