// A workflow as n8n serves it: its Webhook node on an address, and the engine that runs what comes in, with n8n's own nodes.

import { createServer } from 'node:http'
import { createRequire } from 'node:module'

import { additionalData } from './engine.js'

const load = createRequire(import.meta.url)
const { WebhookContext, WorkflowExecute } = load('n8n-core')
const { NodeHelpers, Workflow, createRunExecutionData } = load('n8n-workflow')
const MAX_BODY = 1 << 20

const loaded = new Map()

/** The node of a type such as n8n-nodes-base.httpRequest, from n8n's package of nodes. */
function nodeOf(type) {
  if (!loaded.has(type)) {
    const name = type.replace('n8n-nodes-base.', '')
    const known = load('n8n-nodes-base/dist/known/nodes.json')[name]
    if (!known) throw new Error(`n8n has no node ${type}`)
    loaded.set(type, new (load(`n8n-nodes-base/${known.sourcePath}`)[known.className])())
  }
  return loaded.get(type)
}

const nodeTypes = {
  getByName: nodeOf,
  getByNameAndVersion: (type, version) => NodeHelpers.getVersionedNodeType(nodeOf(type), version),
  getKnownTypes: () => ({}),
}

/**
 * Serves the Webhook node of an exported workflow on an address of its own. Returns the address, and close; `failures` has what n8n
 * would show of executions that failed.
 */
export async function serve(exported) {
  const failures = []
  const server = createServer((request, response) => {
    execute(exported, request, response).catch((error) => {
      failures.push(error)
      if (!response.headersSent) response.writeHead(500)
      response.end()
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { address: `http://127.0.0.1:${server.address().port}/`, failures, close: () => server.close() }
}

async function execute(exported, request, response) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  // What n8n's web server adds to a request.
  Object.assign(request, { rawBody: Buffer.concat(chunks), contentType: 'application/json', params: {}, query: {}, ips: [], ip: '127.0.0.1' })
  request.body = JSON.parse(request.rawBody)

  const flow = new Workflow({ ...exported, id: 'workflow', active: true, nodeTypes })
  const data = { ...additionalData({}), httpRequest: request, httpResponse: response }
  // n8n itself answers by what the node "Respond to Webhook" gives.
  data.hooks.addHandler('sendResponse', ({ body, headers, statusCode }) => {
    response.writeHead(statusCode, headers).end(typeof body === 'string' ? body : undefined)
  })
  const start = Object.values(flow.nodes).find((node) => node.type === 'n8n-nodes-base.webhook')
  const webhook = nodeTypes.getByNameAndVersion(start.type, start.typeVersion)
  const context = new WebhookContext(flow, start, data, 'webhook', { webhookDescription: webhook.description.webhooks[0] }, [], createRunExecutionData({}))
  const { workflowData } = await webhook.webhook(context)

  const run = createRunExecutionData({ executionData: { nodeExecutionStack: [{ node: start, data: { main: workflowData }, source: null }] } })
  const { data: { resultData: { error } } } = await new WorkflowExecute(data, 'webhook', run).processRunExecutionData(flow)
  if (error) throw error
  if (!response.writableEnded) throw new Error('the workflow ends without an answer')
}
