import { validate } from '@scalar/openapi-validator'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import type { RouteAuth } from '#shared/contract/route.ts'
import { until } from '../support/assertions/eventually.ts'
import { documentClient, type RequestFields } from '../support/clients/documentClient.ts'
import { openSocket } from '../support/clients/socketClient.ts'
import { claudeConversation } from '../support/fixtures/chatExports.ts'
import { createContractRoutes } from '../support/fixtures/contractRoutes.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import {
  type Answer,
  exchange,
  type Json,
  runningService,
  type TestService,
} from '../support/processes/runningService.ts'

/** Client that uses the local API solely through its OpenAPI document. */
const documentPath = '/local/openapi.json'
const intent = { kind: 'siwe', domain: 'app.example', uri: 'https://app.example/', nonce: 'abcdefgh12345678' }
const draft = { name: 'Ada', bio: 'Counts.' }
let service: TestService
let agent: RunningAgent
let document: Json
let client: ReturnType<typeof documentClient>
/** Response that opened the session. */
let opened: Answer
let keyringId: string
let accountId: string
let intentId: string
let otherIntentId: string
let registrationId: string
let conversationId: string
let messageId: string
let attachmentId: string
let folderId: string
let promptId: string
const domain = 'contract.com'
const record = { type: 'A', host: '@', value: '192.0.2.1' }
let planId: string
let paymentId: string
const none = '0'.repeat(24)
const unknownServer = `mds_${none}`
const unknownRecording = `rec_${none}`
const unknownCall = `call_${none}`
const unknownTask = 'chat:msg_1'

beforeAll(async () => {
  service = await runningService({ host: 'none', payments: { facilitator: { kind: 'test-ledger' } } })
  const target = { url: service.url, key: service.key, certificate: undefined }
  agent = await createRunningAgent({ dataFolder: temporaryFolder('agent'), target, tellService: () => {} })
  const phrase = await agent.wallet.makePhrase(12)
  const keyring = await agent.wallet.addPhrase({ phrase, writtenDown: true, passphrase: 'several plain words' })
  keyringId = keyring.id
  accountId = keyring.accounts[0]?.id ?? ''
  document = (await exchange(agent.origin, documentPath, {})).json
  client = documentClient(agent.origin, document)
  opened = await client.call('sessionOpen', { body: { token: agent.issueToken() } }, {})
  intentId = (await call('intentAsk', { body: { intent } })).json.id
  otherIntentId = (await call('intentAsk', { body: { intent } })).json.id
  registrationId = (await call('registrationStart', { body: draft })).json.id
  const text = { body: 'Some notes.', headers: { 'content-type': 'application/octet-stream' } }
  attachmentId = (await agent.send('/local/chat/attachments?name=notes.txt', text)).json.id
  conversationId = (await call('conversationCreate', { body: { title: 'First', models: ['gpt-5-mini'] } })).json.id
  folderId = (await call('chatFolderCreate', { body: { name: 'Work' } })).json.id
  promptId = (await call('promptCreate', { body: { title: 'Translate', text: 'Into {{language}}.' } })).json.id
  seedDomain(service.dataDir, { accountId: (await service.send('/v1/auth/me')).json.id, name: domain })
  planId = (await call('localDnsPlan', { path: { domain }, body: { records: [record] } })).json.id
  paymentId = (await call('localCreditsTopUp', { body: { amount_usd: 5 } })).json.payment.id
  const response = await call('messageSend', { path: { conversationId }, body: { parent_id: null, text: 'Hello' } })
  messageId = response.json.answers[0].id
  // No provider has a key here, so the assistant message fails immediately but still exists.
  await until('the answer ended', async () => {
    const { json } = await call('chatMessageGet', { path: { messageId } })
    return json.message.finished_at !== null
  })
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

/** Builds the credentials that the document requires from both secrets. @param index index of the alternative */
function credentials(operation: string, index = 0): Record<string, string> {
  const schemes = Object.keys(client.securityOf(operation)[index] ?? {})
  return Object.assign({}, ...schemes.map((name) => toComparable(document.components.securitySchemes[name])))
}

const call = (operation: string, fields: RequestFields = {}, index = 0) =>
  client.call(operation, fields, credentials(operation, index))

function toComparable({ type, scheme, in: place, name }: Json): Record<string, string> {
  if (type === 'http' && scheme === 'bearer') return { authorization: `Bearer ${service.key}` }
  if (place === 'cookie') {
    const [cookie = ''] = String(opened.headers['set-cookie']).split(';')
    expect(cookie.startsWith(`${name}=`)).toBe(true)
    return { cookie }
  }
  return { [name.toLowerCase()]: name === windowKeyHeader ? opened.json.window_key : service.key }
}

const createToolClient = async (): Promise<string> =>
  (await call('toolClientCreate', { body: { name: 'Made' } })).json.client.id

/** Address without a listener. */
const httpTransport = { kind: 'http', url: 'http://127.0.0.1:9/mcp' }
let toolServers = 0
const toolServerId = async (): Promise<string> => {
  toolServers += 1
  return (await call('toolServerAdd', { body: { name: `made-${toolServers}`, place: httpTransport } })).json.id
}

type ExpectedRequest = RequestFields & { status?: number }
type RequestFactory = () => ExpectedRequest | Promise<ExpectedRequest>

/** Requests in execution order. Operations that remove a resource follow those that need it. */
const requests: Record<string, RequestFactory> = {
  localDocument: () => ({}),
  sessionOpen: () => ({ body: { token: agent.issueToken() } }),
  localStatus: () => ({}),
  walletGet: () => ({}),
  walletNetworks: () => ({}),
  walletBalances: () => ({ query: { network: 'nowhere' }, status: 400 }),
  walletChange: () => ({ body: { auto_lock_minutes: 60 } }),
  walletAccountAdd: () => ({ body: { keyring_id: keyringId, chain_type: 'evm', label: 'Second' } }),
  walletAccountRename: () => ({ path: { accountId }, body: { label: 'First' } }),
  walletKeyringRename: () => ({ path: { keyringId }, body: { label: 'Mine' } }),
  walletLinkList: () => ({}),
  walletLinkAdd: () => ({ body: { account_id: accountId } }),
  walletLinkRemove: async () => ({
    path: {
      address: (await call('walletLinkList')).json.links.find((it: Json) => it.account_id === accountId).address,
    },
  }),
  walletSignInGet: () => ({}),
  walletSignInChoose: () => ({ body: { account_id: accountId }, status: 400 }),
  securePromptOpen: () => ({ body: { purpose: 'reveal', theme: 'dark', keyring_id: keyringId } }),
  intentAsk: () => ({ body: { intent, reason: 'To read the price list.' } }),
  intentGet: () => ({ path: { intentId }, query: { wait_ms: '0' } }),
  intentList: () => ({ query: { state: 'waiting', limit: '5' } }),
  intentDecide: () => ({ path: { intentId }, body: { approve: true, grant: { times: 2 } } }),
  intentCancel: () => ({ path: { intentId: otherIntentId } }),
  grantList: () => ({}),
  grantRevoke: async () => ({ path: { grantId: (await call('grantList')).json.grants[0]?.id ?? 'none' } }),
  policyGet: () => ({}),
  policyChange: () => ({ body: { rules: [], confirm_above_micro_usd: '1', expiry_minutes: 15 } }),
  registrationPreview: () => ({ body: { ...draft, chain_type: 'solana' } }),
  registrationStart: () => ({ body: draft }),
  registrationList: () => ({}),
  registrationRetry: () => ({ path: { registrationId }, body: {}, status: 409 }),
  timelineList: () => ({ query: { limit: '10' } }),
  timelineVerify: () => ({}),
  timelineTasks: () => ({ query: { limit: '5' } }),
  timelineTask: () => ({ path: { task: unknownTask }, status: 404 }),
  activitySettings: () => ({}),
  activitySettingsChange: () => ({ body: { keep_recordings_days: 7 } }),
  recordingList: () => ({ query: { limit: '5' } }),
  recordingRead: () => ({ path: { recordingId: unknownRecording }, status: 404 }),
  recordingDelete: () => ({ path: { recordingId: unknownRecording }, status: 404 }),
  recordingsDelete: () => ({}),
  timelineExport: () => ({ query: { format: 'csv' } }),
  conversationCreate: () => ({ body: { title: 'Second', parameters: { temperature: 1 } } }),
  conversationList: () => ({ query: { limit: '1', pinned: 'false' } }),
  conversationGet: () => ({ path: { conversationId } }),
  conversationChange: () => ({
    path: { conversationId },
    body: { pinned: true, folder_id: folderId, limits: { soft_micro_usd: 1, hard_micro_usd: null } },
  }),
  messageSend: () => ({
    path: { conversationId },
    body: { parent_id: messageId, text: 'More', attachment_ids: [attachmentId] },
  }),
  messageRegenerate: () => ({ path: { messageId }, body: { models: ['gpt-5-mini', 'kimi-k2.5'] } }),
  messageList: () => ({ path: { conversationId }, query: { limit: '10', before: '5' } }),
  chatMessageGet: () => ({ path: { messageId } }),
  messageStop: () => ({ path: { messageId }, body: {} }),
  messageStream: () => ({ path: { messageId } }),
  messageEstimate: () => ({ body: { conversation_id: conversationId, parent_id: messageId, text: 'Hello' } }),
  conversationSearch: () => ({ query: { q: 'hel', limit: '5' } }),
  conversationFork: () => ({ path: { conversationId }, body: { message_id: messageId } }),
  conversationExport: () => ({ path: { conversationId }, query: { format: 'markdown' } }),
  conversationImport: () => ({ body: JSON.stringify([claudeConversation()]) }),
  chatAttachmentAdd: () => ({ query: { name: 'empty.txt' }, status: 415 }),
  chatAttachmentContent: () => ({ path: { attachmentId } }),
  chatFolderCreate: () => ({ body: { name: 'Home' } }),
  chatFolderList: () => ({}),
  chatFolderChange: () => ({ path: { folderId }, body: { name: 'Office' } }),
  chatFolderDelete: () => ({ path: { folderId } }),
  promptCreate: () => ({ body: { title: 'Sum up', text: 'Sum this up: {{text}}' } }),
  promptList: () => ({}),
  promptChange: () => ({ path: { promptId }, body: { title: 'Translation' } }),
  promptDelete: async () => ({
    path: { promptId: (await call('promptCreate', { body: { title: 'x', text: 'y' } })).json.id },
  }),
  chatBudgetGet: () => ({}),
  chatBudgetChange: () => ({ body: { day: { soft_micro_usd: null, hard_micro_usd: 1_000_000 } } }),
  chatSpendSum: () => ({ query: { by: 'model', from: '2026-01-01' } }),
  conversationDelete: async () => ({
    path: { conversationId: (await call('conversationCreate', { body: {} })).json.id },
  }),
  conversationRestore: () => ({ path: { conversationId }, body: {} }),
  providerList: () => ({}),
  providerKeysRead: () => ({ body: {} }),
  providerKeyRemove: () => ({ path: { family: 'a' }, status: 404 }),
  modelServerList: () => ({}),
  modelServerFind: () => ({ body: {} }),
  modelServerAdd: () => ({ body: { name: 'nobody', base_url: 'http://127.0.0.1:9/v1' }, status: 502 }),
  modelServerChange: () => ({ path: { serverId: unknownServer }, body: { free: true }, status: 404 }),
  modelServerRefresh: () => ({ path: { serverId: unknownServer }, body: {}, status: 404 }),
  modelServerRemove: () => ({ path: { serverId: unknownServer }, status: 404 }),
  localDomainList: () => ({}),
  localDomainGet: () => ({ path: { domain } }),
  localDnsList: () => ({ path: { domain }, query: { fresh: 'true' } }),
  localDomainSearch: () => ({ query: { q: 'shop', tlds: 'com,io' } }),
  localDomainPricing: () => ({}),
  localDnsPlan: () => ({ path: { domain }, body: { records: [record] } }),
  localDnsPlans: () => ({ path: { domain } }),
  localDnsApply: () => ({ path: { planId }, body: {} }),
  localRenewalSet: () => ({ path: { domain }, body: { enabled: true, max_micro_usd: 20_000_000 } }),
  localRenewalList: () => ({}),
  localRenewalRetry: () => ({ path: { domain }, body: {} }),
  localRenewalRemove: () => ({ path: { domain } }),
  localNoticesDismiss: () => ({ body: {} }),
  localDnsServers: () => ({ path: { domain } }),
  localDnsPropagation: () => ({ path: { domain }, body: { server: 'nobody' }, status: 404 }),
  localDnsUndo: () => ({ path: { planId }, body: {} }),
  walletInfo: () => ({ query: { network: 'eip155:31337' } }),
  paymentDiscover: () => ({ body: { url: `${service.url}/` } }),
  paymentCheck: () => ({ body: { url: `${service.url}/pay/5/nobody`, method: 'GET' } }),
  paymentFetch: () => ({ body: { url: `${service.url}/health`, max_amount_usd: 1, headers: { accept: '*/*' } } }),
  localPurchaseQuote: () => ({ body: { topup: { amount_usd: 25 } } }),
  localDomainRegister: () => ({ body: { domain: 'bought.com', price_usd: 1 }, status: 409 }),
  localDomainRenew: () => ({ body: { domain: 'nowhere.com', years: 2 }, status: 404 }),
  localCreditsTopUp: () => ({ body: { amount_usd: 5, reason: 'For tests.' } }),
  paymentList: () => ({ query: { state: 'waiting', limit: '5' } }),
  paymentExport: () => ({ query: { format: 'csv' } }),
  paymentGet: () => ({ path: { paymentId }, query: { wait_ms: '0' } }),
  paymentReconcile: () => ({ path: { paymentId }, body: {} }),
  paymentBudgetGet: () => ({}),
  paymentBudgetChange: () => ({
    body: {
      ...{ payment_micro_usd: null, day_micro_usd: 9_000_000, month_micro_usd: null, ask_first_payee: true },
      hosts: [{ host: 'shop.example', month_micro_usd: 0 }],
      payees: [],
    },
  }),
  paymentPayeeForget: () => ({ path: { host: 'shop.example' } }),
  toolClientCreate: () => ({ body: { name: 'Codex', profile: 'read-only' } }),
  toolClientList: () => ({}),
  toolClientChange: async () => ({ path: { clientId: await createToolClient() }, body: { dry_run: true } }),
  toolClientRevoke: async () => ({ path: { clientId: await createToolClient() } }),
  toolServerAdd: () => ({ body: { name: 'made', place: httpTransport, secret_names: ['X-Key'] } }),
  toolServerList: () => ({}),
  toolServerChange: async () => ({ path: { serverId: await toolServerId() }, body: { enabled: true } }),
  toolServerTest: async () => ({ path: { serverId: await toolServerId() } }),
  toolServerToolChange: async () => ({
    path: { serverId: await toolServerId() },
    body: { tools: [{ name: 'none', digest: '', enabled: true, ask: true }] },
    status: 409,
  }),
  toolServerRemove: async () => ({ path: { serverId: await toolServerId() } }),
  toolCallGet: () => ({ path: { callId: unknownCall }, status: 404 }),
  policyStop: () => ({ body: { stopped: true } }),
  walletLock: () => ({ body: {} }),
}
const operations = Object.keys(requests)
const localRoutes = async () => (await createContractRoutes()).filter(({ path }) => path.startsWith('/local/'))

test('the document is valid and needs no credential', async () => {
  const { valid, errors } = validate(document)
  expect(errors ?? []).toEqual([])
  expect(valid).toBe(true)
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '0.0.0' }, servers: [{ url: '/' }] })
  const { headers } = await exchange(agent.origin, documentPath, {})
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
})

test('the document lists exactly the /local/ operations that the local agent serves', async () => {
  const routes = await localRoutes()
  const documented = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId }]) => `${operationId}: ${method} ${path}`),
  )
  const defined = routes.map(
    ({ operation, method, path }) => `${operation}: ${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  expect(documented.sort()).toEqual([...defined, 'localEvents: get /local/events'].sort())
  expect([...operations].sort()).toEqual(routes.map(({ operation }) => operation).sort())
  for (const { route } of agent.endpoints) expect(defined.join()).toContain(`${route.operation}: `)
})

test('the document states the credential of each operation: none, session or key', async () => {
  const session = ['sessionCookie', 'windowKey']
  const expectedSchemes: Partial<Record<RouteAuth, string[][]>> = {
    none: [],
    person: [session],
    client: [['bearerKey'], ['rawKey'], ['apiKeyHeader'], session],
  }
  for (const { operation, auth } of await localRoutes()) {
    const schemes = client.securityOf(operation).map((it) => Object.keys(it))
    expect([operation, schemes]).toEqual([operation, expectedSchemes[auth]])
  }
})

test.each(operations)('%s responds as documented', async (operation) => {
  const { status = client.successOf(operation), ...fields } = (await requests[operation]?.()) ?? {}
  const answer = await call(operation, fields)
  expect(answer.status, answer.text).toBe(status)
})

test.each(operations)('%s requires the documented credentials', async (operation) => {
  const alternatives = client.securityOf(operation)
  if (alternatives.length === 0) return expect(['localDocument', 'sessionOpen']).toContain(operation)
  const fields = (await requests[operation]?.()) ?? {}
  expect(await client.call(operation, fields, {})).toMatchObject({ status: 401, json: { code: 'auth/session' } })
  if (alternatives.some((it) => 'bearerKey' in it)) return
  const withKey = { authorization: `Bearer ${service.key}` }
  expect(await client.call(operation, fields, withKey)).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
})

test('accepts the session and a key in each documented form', async () => {
  const forms = client.securityOf('walletNetworks')
  const answers = await Promise.all(forms.map((_, index) => call('walletNetworks', {}, index)))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
})

test('rate limit responses have the documented shape and header', async () => {
  const nowhere = { kind: 'x402.authorize', network: 'nowhere', pay_to: `0x${'2'.repeat(40)}`, amount: '1' }
  const body = { intent: { ...nowhere, resource: 'https://shop.example/report' } }
  const refused = await until('the pace is over', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('intentAsk', { body })))
    return answers.find(({ status }) => status === 429)
  })
  const { headers } = document.paths['/local/intents'].post.responses[429]
  expect(Object.keys(headers)).toEqual(['Retry-After'])
  expect(refused.headers['retry-after']).toMatch(/^\d+$/)
})

test('events match the document', async () => {
  const socket = await openSocket(`${agent.origin}/local/events`, { headers: credentials('localEvents') })
  await until('the first event', () => socket.messages[0])
  const message = client.reader(document.components.schemas.LocalEvent)
  expect(socket.messages.map((it) => message.parse(it))[0]).toMatchObject({ type: 'connection.changed' })
  socket.close()
  expect(() => message.parse({ type: 'unheard.of' })).toThrow()
})

test('serves the document only to programs and same-origin pages', async () => {
  const get = (headers: Record<string, string>) => exchange(agent.origin, documentPath, { headers })
  expect(await get({ origin: 'https://attacker.example' })).toMatchObject({
    status: 403,
    json: { code: 'auth/origin' },
  })
  expect(await get({ host: 'attacker.example' })).toMatchObject({ status: 403, json: { code: 'auth/host' } })
  expect((await get({ origin: agent.origin })).status).toBe(200)
  expect((await exchange(agent.origin, documentPath, { body: {} })).json).toMatchObject({ code: 'request/method' })
})
