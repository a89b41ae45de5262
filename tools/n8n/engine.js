// n8n's own engine with one community node in it: what n8n does with a workflow between "Execute" and the result, without n8n's
// database, pages and queue.

import { createRequire } from 'node:module'

// Both are CommonJS, and the engine patches what it loads before the workflow's classes.
const load = createRequire(import.meta.url)
const { ExecutionLifecycleHooks, WorkflowExecute } = load('n8n-core')
const { Workflow } = load('n8n-workflow')
const { EvolutionApi } = load('n8n-nodes-evolution-api/dist/nodes/EvolutionApi/EvolutionApi.node.js')
const { EvolutionApi: Credential } = load('n8n-nodes-evolution-api/dist/credentials/EvolutionApi.credentials.js')

const node = new EvolutionApi()
const type = 'n8n-nodes-evolution-api.evolutionApi'

/** The node's description: its menu, and the fields of each operation. */
export const description = node.description

/** The request that n8n makes to test a credential, with its expressions evaluated. */
export function credentialTest(credentials) {
  const { request } = new Credential().test
  const evaluated = (expression) => workflow({}).expression.getParameterValue(
    expression, null, 0, 0, 'node', [], 'manual', { $credentials: credentials }, undefined,
  )
  return { url: evaluated(request.baseURL) + evaluated(request.url), method: request.method, headers: { apikey: evaluated(request.headers.apikey) } }
}

const nodeTypes = {
  getByName: () => node,
  getByNameAndVersion: () => node,
  getKnownTypes: () => ({}),
}

function workflow(parameters) {
  return new Workflow({
    id: 'workflow', name: 'workflow', active: false, connections: {}, nodeTypes, settings: {},
    nodes: [{
      id: 'node', name: 'node', type, typeVersion: 1, position: [0, 0], parameters,
      credentials: { evolutionApi: { id: 'credential', name: 'credential' } },
    }],
  })
}

// What n8n keeps in its database is one credential here, which is not sealed.
/** What n8n gives to an execution. */
export function additionalData(credentials) {
  const credentialsHelper = {
    getParentTypes: () => [],
    isCredentialUsableByNode: () => true,
    getDecrypted: async () => credentials,
    getCredentials: async () => { throw new Error('nothing asks for a sealed credential') },
    authenticate: async (_, __, request) => request,
    preAuthentication: async () => undefined,
    runPreAuthentication: async () => undefined,
    updateCredentials: async () => {},
    updateCredentialsOauthTokenData: async () => {},
    getCredentialsProperties: () => [],
  }
  const address = 'http://127.0.0.1/'
  return {
    credentialsHelper, hooks: new ExecutionLifecycleHooks('manual', '1', { id: 'workflow', name: 'workflow', nodes: [], connections: {} }),
    currentNodeParameters: undefined, executionId: '1', restApiUrl: address, instanceBaseUrl: address, formWaitingBaseUrl: address,
    webhookBaseUrl: address, webhookWaitingBaseUrl: address, webhookTestBaseUrl: address, variables: {}, userId: 'user',
    setExecutionStatus() {}, logAiEvent() {}, executeWorkflow() { throw new Error('no workflow calls another') },
  }
}

/**
 * Runs a workflow of the node alone. Returns what its first item has; throws what n8n would show where it fails, with `http`, the
 * status that the server answered, where it did.
 */
export async function run(credentials, resource, operation, parameters = {}) {
  const flow = workflow({ resource, operation, ...parameters })
  const result = await new WorkflowExecute(additionalData(credentials), 'manual').run({ workflow: flow, startNode: flow.getNode('node') })
  const { error, runData } = result.data.resultData
  if (error) throw error
  return runData.node[0].data.main[0][0].json
}
