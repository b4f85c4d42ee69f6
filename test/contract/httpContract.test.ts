import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '#shared/contract/route.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { getSandbox } from '#shared/contract/sandboxes.ts'
import { createPayer, paymentHeader } from '../support/clients/payer.ts'
import { createProfile, signRegistration } from '../support/clients/signRegistration.ts'
import { evmWallet, solanaWallet } from '../support/clients/wallets.ts'
import { bash, createTar } from '../support/fixtures/imageArchives.ts'
import { orphanSandboxes } from '../support/fixtures/orphanSandboxes.ts'
import { createPendingAccountRequest } from '../support/fixtures/pendingAccountRequest.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedCharge } from '../support/fixtures/seedCharge.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer, type ProviderServer } from '../support/models/providerServer.ts'
import { type Answer, exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** Calls every operation of the contract over HTTP with a real sandbox. */
const archive = join(temporaryFolder('archive'), 'tiny.tar')
const messages = [{ role: 'user', content: 'Hello' }]
let providers: ProviderServer
let service: TestService
let sandboxId: string
let spareId: string
let terminalId: string
let keyId: string
let snapshotId: string
let spareSnapshotId: string
let uploadId: string
let recordId: string
let processId: string
let foreignKey: string
let walletAddress: string
const signed: Record<string, unknown> = {}
let automatonId: string
let accountRequestId: string
let adoptableId: string
let orphanId: string
/** Payments by product purchased in this test. */
const payments: Record<string, Record<string, string>> = {}
/** Credential of the window's requests. */
const person = 'sk_steward_person'

beforeAll(async () => {
  await writeFile(archive, await createTar([bash]))
  providers = await createProviderServer()
  service = await runningService({
    ...{ personKey: () => person, inference: createInferenceOptions(providers) },
    payments: { facilitator: { kind: 'test-ledger' } },
  })
  accountRequestId = createPendingAccountRequest(service.dataDir, evmWallet().address)
  sandboxId = await createId('/v1/sandboxes', { name: 'contract' }, 'id')
  spareId = await createId('/v1/sandboxes', { name: 'spare' }, 'id')
  terminalId = await createId(`/v1/sandboxes/${sandboxId}/pty`, { command: 'cat' }, 'session_id')
  adoptableId = await createId('/v1/sandboxes', { name: 'adoptable' }, 'id')
  orphanId = await createId('/v1/sandboxes', { name: 'orphan' }, 'id')
  await service.restart(() => orphanSandboxes(service.dataDir, [adoptableId, orphanId]))
  snapshotId = await createId(`/v1/sandboxes/${sandboxId}/snapshots`, { name: 'kept' }, 'id')
  spareSnapshotId = await createId(`/v1/sandboxes/${spareId}/snapshots`, {}, 'id')
  const begun = await service.send(`/v1/sandboxes/${sandboxId}/exec`, {
    body: { command: 'sleep 1000 >/dev/null 2>&1 & echo $!' },
  })
  processId = String(begun.json.stdout).trim()
  const foreign = secondAccount(service.dataDir)
  foreignKey = foreign.key
  signed.credits = { to_address: foreign.accountId, amount_cents: 1 }
  const { id: accountId } = (await service.send('/v1/auth/me')).json
  signed.refund = { transaction_id: seedCharge(service.dataDir, { accountId, cents: 1 }) }
  uploadId = await createId(`/v1/sandboxes/${sandboxId}/files/uploads`, { path: '/tmp/up', size: 3 }, 'upload_id')
  const image = { name: 'spare', source: { kind: 'archive', path: archive } }
  expect((await service.send('/v1/images', { body: image })).status).toBe(201)
  seedDomain(service.dataDir, { accountId, name: 'contract.com' })
  // Transfer codes require an unlocked domain.
  const unlocked = await service.send('/domains/contract.com/lock', { method: 'PUT', body: { enabled: false } })
  expect(unlocked.status).toBe(200)
  payments.creditsBuy = await signPayment(`/pay/5/${accountId}`)
  payments.domainRegister = await signPayment('/domains/register', requests.domainRegister?.body)
  payments.domainRenew = await signPayment('/domains/contract.com/renew', requests.domainRenew?.body)
  const record = { type: 'A', host: 'www', value: '192.0.2.1' }
  recordId = await createId('/v1/domains/contract.com/dns', record, 'recordId')
  keyId = await createId('/v1/auth/api-keys', { name: 'to revoke' }, 'id')
  const wallet = evmWallet()
  const linked = evmWallet()
  walletAddress = linked.address
  signed.evm = await wallet.signedMessage(service.url)
  signed.solana = await solanaWallet().signedMessage(service.url)
  signed.linked = await linked.signedMessage(service.url)
  signed.refreshed = { refresh_token: (await wallet.signIn(service.url)).json.refresh_token }
  signed.ended = { refresh_token: (await wallet.signIn(service.url)).json.refresh_token }
  const automaton = privateKeyToAccount(generatePrivateKey())
  const creator = await evmWallet().signedMessage(service.url)
  expect((await service.send('/v1/auth/wallets', { body: creator })).status).toBe(201)
  const profile = createProfile(automaton.address)
  automatonId = profile.automaton_id
  signed.registration = await signRegistration(automaton, profile)
})
afterAll(async () => {
  await service?.close()
  await providers?.close()
})

/** Signs a payment for an operation of the service as the owner of this address. */
async function signPayment(path: string, body?: unknown): Promise<Record<string, string>> {
  const ada = createPayer()
  await service.send('/v1/payments/faucet', { body: { address: ada.address } })
  const [offer] = (await service.send(path, { body })).json.accepts
  return paymentHeader(1, await ada.authorize({ to: offer.payTo, value: offer.maxAmountRequired }))
}

async function createId(path: string, body: unknown, field: string): Promise<string> {
  const { status, json } = await service.send(path, { body })
  expect(status, JSON.stringify(json)).toBe(201)
  return String(json[field])
}

type RequestFields = {
  id?: () => string
  query?: string
  body?: unknown
  /** Wallet that signs for `signed`. */
  signedAs?: string
  bytes?: string
  headers?: Record<string, string>
}

/** Requests by operation. Destructive ones use separate resources. */
const requests: Record<string, RequestFields> = {
  health: {},
  authNonce: {},
  authVerify: { signedAs: 'evm' },
  authSolanaVerify: { signedAs: 'solana' },
  authRefresh: { signedAs: 'refreshed' },
  authLogout: { signedAs: 'ended' },
  authMe: {},
  authWalletLink: { signedAs: 'linked' },
  authWalletUnlink: {},
  apiKeyCreate: { body: { name: 'one more' } },
  apiKeyList: {},
  apiKeyRevoke: {},
  accountRequestList: {},
  accountRequestDecide: { id: () => accountRequestId, body: { allow: true } },
  runtimeList: {},
  imageList: {},
  imageAdd: { body: { name: 'another', source: { kind: 'archive', path: archive } } },
  imageRemove: {},
  sandboxCreate: { body: { name: 'another', vcpu: 1, memory_mb: 512 } },
  sandboxList: {},
  sandboxGet: {},
  foundSandboxList: {},
  sandboxHostGet: {},
  sandboxHostReplace: {},
  removedThingList: {},
  foundSandboxAdopt: { id: () => adoptableId },
  foundSandboxDelete: { id: () => orphanId },
  sandboxChange: { id: () => spareId, body: { name: 'spare by another name' } },
  sandboxStop: { id: () => spareId },
  sandboxStart: { id: () => spareId },
  sandboxExecOutput: { query: '?watch=ffffffffffffffffffffffff' },
  sandboxExec: { body: { command: 'echo out; echo err >&2; exit 3' } },
  snapshotCreate: { body: { name: 'another' } },
  snapshotList: {},
  snapshotRestore: { id: () => spareId },
  snapshotFork: { body: { name: 'forked' } },
  snapshotDelete: {},
  fileUpload: { body: { path: '/tmp/contract.txt', content: 'hello' } },
  fileRead: { query: '?path=/tmp/contract.txt' },
  fileList: { query: '?path=/tmp' },
  fileStat: { query: '?path=/tmp/contract.txt' },
  fileDownload: { query: '?path=/tmp/contract.txt' },
  folderDownload: { query: '?path=/tmp' },
  folderCreate: { body: { path: '/tmp/folder/in/folder' } },
  fileMove: { body: { from: '/tmp/contract.txt', to: '/tmp/moved.txt' } },
  fileCopy: { body: { from: '/tmp/moved.txt', to: '/tmp/copied.txt' } },
  fileRemove: { query: '?path=/tmp/copied.txt' },
  uploadBegin: { body: { path: '/tmp/uploaded.txt', size: 3 } },
  uploadAppend: { bytes: 'ab', headers: { 'upload-offset': '0' } },
  uploadGet: {},
  uploadCancel: {},
  portExpose: { body: { port: 3000 } },
  portList: {},
  portListening: {},
  portTokenCreate: {},
  sandboxDomainAdd: { body: { domain: 'app.example.com', port: 3000 } },
  sandboxDomainList: {},
  portRemove: {},
  sandboxDomainRemove: {},
  terminalCreate: { body: { command: 'cat', cols: 100, rows: 30 } },
  terminalList: { query: '?all=true' },
  terminalSearch: { query: '?q=x' },
  terminalWrite: { body: { input: 'x' } },
  terminalRead: {},
  terminalChange: { body: { name: 'by a name of its own' } },
  terminalResize: { body: { cols: 90, rows: 25 } },
  terminalClose: {},
  terminalLinkCreate: {},
  sandboxMetrics: {},
  processList: {},
  processSignal: { body: { signal: 'SIGTERM' } },
  commandList: { query: '?limit=500' },
  activityList: { query: '?limit=500' },
  accountActivityList: { query: '?after=1&limit=2' },
  automatonRegister: { signedAs: 'registration' },
  automatonNonce: { body: {} },
  automatonList: {},
  automatonGet: { id: () => automatonId },
  creditsBalance: {},
  creditsHistory: { query: '?limit=5' },
  creditsHistoryExport: { query: '?type=inference' },
  creditsSpending: { query: '?by=model' },
  creditsPricing: {},
  creditsTransfer: { signedAs: 'credits' },
  creditsGrant: { signedAs: 'credits' },
  creditsAdjust: { body: { amount_cents: -1, note: 'Less' } },
  creditsRefund: { signedAs: 'refund' },
  creditsBuy: {},
  paymentsFaucet: { body: { address: `0x${'1'.repeat(40)}` } },
  paymentsDiscovery: {},
  paymentsAuthorization: {},
  paymentsBalance: {},
  modelList: {},
  modelGet: {},
  providerTest: {},
  chatCompletionCreate: { body: { model: 'claude-sonnet-4.5', messages } },
  responseCreate: { body: { model: 'gemini-3-pro', input: 'Hello' } },
  messageCreate: { body: { model: 'gpt-5.2', messages, max_tokens: 100 } },
  embeddingsCreate: { body: { model: 'text-embedding-3-small', input: 'Hello' } },
  messageCountTokens: { body: { model: 'kimi-k2.5', messages } },
  domainSearch: { query: '?q=contract&suggestions=true' },
  domainCheck: { query: '?domains=example.com,contract.io' },
  domainPricing: { query: '?tlds=com,co.uk' },
  domainList: {},
  domainGet: {},
  domainQuote: { body: { domain: 'quoted.com' } },
  domainAuthCode: {},
  domainRegister: { body: { domain: 'bought.com' } },
  domainRenew: { body: {} },
  domainPrivacy: { body: { enabled: false } },
  domainLock: { body: { enabled: false } },
  domainNameservers: { body: { nameservers: ['ns1.example.net', 'ns2.example.net'] } },
  dnsList: {},
  dnsAdd: { body: { type: 'TXT', host: '@', value: 'hello' } },
  dnsUpdate: { body: { ttl: 600 } },
  dnsDelete: {},
  dnsOrphanedList: {},
  dnsOrphanedRemove: {},
  domainTransactions: {},
  sandboxDelete: { id: () => spareId },
}

/** Deletions run last, because all other operations need the resources. */
const order = [
  ...routeTable.filter(({ method }) => method !== 'DELETE'),
  ...routeTable.filter(({ method }) => method === 'DELETE'),
]

function buildPath(route: Route, path: string = route.path): string {
  const id = requests[route.operation]?.id?.() ?? sandboxId
  const values: Record<string, string> = {
    id,
    sessionId: terminalId,
    uploadId,
    keyId,
    snapshotId: id === spareId ? spareSnapshotId : snapshotId,
    pid: processId,
    port: '3000',
    name: 'spare',
    domain: path.includes('/sandboxes/') ? 'app.example.com' : 'contract.com',
    recordId,
    address: walletAddress,
    amount_usd: '5',
    nonce: `0x${'1'.repeat(64)}`,
    family: 'a',
    model: 'gpt-5.2',
  }
  const filled = path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `:${name}`)
  return `${filled}${requests[route.operation]?.query ?? ''}`
}

function ask(route: Route, options: { path?: string; key?: string | null } = {}): Promise<Answer> {
  const { path = buildPath(route), key = route.auth === 'person' ? person : service.key } = options
  const { body = undefined, bytes, headers, signedAs } = requests[route.operation] ?? {}
  const payload = bytes ?? (signedAs === undefined ? body : signed[signedAs])
  const type = bytes === undefined ? {} : { 'content-type': 'application/octet-stream' }
  return exchange(service.url, path, {
    method: route.method,
    key,
    headers: { ...type, ...headers, ...payments[route.operation] },
    ...(payload !== undefined && { body: payload }),
  })
}

test('requests every operation of the contract and no other', () => {
  expect(Object.keys(requests).sort()).toEqual(routeTable.map(({ operation }) => operation).sort())
})

const nameRoutes = (routes: readonly Route[]) => routes.map((route) => [route.operation, route] as const)
const guarded = nameRoutes(order.filter(({ auth }) => auth !== 'none'))
const ofSandbox = nameRoutes(order.filter(({ path }) => path.includes('/sandboxes/:id')))
const ofTerminal = nameRoutes(order.filter(({ path }) => path.includes(':sessionId')))

test.each(guarded)('%s requires an API key', async (_, route) => {
  const answer = await ask(route, { key: null })
  expect(answer.status).toBe(401)
  const message = 'An API key is required.'
  const errorBody = route.tag === 'Models' ? { error: { message } } : { code: 'auth/required', error: message }
  expect(answer.json).toMatchObject(errorBody)
})

test.each(nameRoutes(order))('%s rejects other methods and lists the allowed ones', async (_, route) => {
  const methods = routeTable.filter(({ path }) => path === route.path).map(({ method }) => method)
  const method = methods.includes('PUT') ? 'PATCH' : 'PUT'
  const answer = await exchange(service.url, buildPath(route), { method, key: service.key })
  expect(answer.status).toBe(405)
  expect(answer.headers.allow).toContain(route.method)
  // Clients of model APIs read the code inside the error object.
  const { code } = route.tag === 'Models' ? answer.json.error : answer.json
  expect(code).toBe('request/method')
})

test('returns 405 without matching another path or reading the body', async () => {
  const path = '/v1/automatons/register'
  const read = await exchange(service.url, path, { method: 'GET', key: service.key })
  expect([read.status, read.headers.allow]).toEqual([405, 'POST'])
  const headers = { 'content-type': 'text/plain' }
  const response = await exchange(service.url, '/v1/automatons', {
    method: 'PATCH',
    key: service.key,
    headers,
    body: 'x',
  })
  expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD'])
})

test.each(ofSandbox)('%s returns 404 for a malformed sandbox id', async (_, route) => {
  for (const id of ['123', 'G'.repeat(32), 'A'.repeat(32), '..%2f..%2fetc']) {
    const answer = await ask(route, { path: buildPath(route).replace(/sandboxes\/[0-9a-f]{32}/, `sandboxes/${id}`) })
    expect(answer.status, id).toBe(404)
    expect(answer.json).toMatchObject({ error: 'Sandbox not found or access denied', code: 'sandbox/not-found' })
  }
})

test.each(ofTerminal)('%s returns the same 404 for malformed and unknown terminal ids', async (_, route) => {
  const requestTerminal = (id: string) => ask(route, { path: buildPath(route).replace(/pty_[0-9a-f]{24}/, id) })
  for (const id of ['pty_x', 'abc', `pty_${'0'.repeat(24)}`]) {
    const { status, json } = await requestTerminal(id)
    expect([status, json.code, json.error]).toEqual([
      404,
      'terminal/not-found',
      `There is no terminal ${id} in this sandbox.`,
    ])
  }
})

test.each(ofSandbox)('%s returns 404 to another account, as for an unknown sandbox', async (_, route) => {
  const foreign = await ask(route, { key: foreignKey })
  const unknown = await ask(route, {
    path: buildPath(route).replace(/sandboxes\/[0-9a-f]{32}/, `sandboxes/${'f'.repeat(32)}`),
  })
  for (const answer of [foreign, unknown]) {
    expect(answer.status).toBe(404)
    expect(answer.json).toMatchObject({ error: 'Sandbox not found or access denied', code: 'sandbox/not-found' })
  }
})

test('requests of another account change nothing', async () => {
  for (const id of [sandboxId, spareId]) {
    expect((await service.send(`/v1/sandboxes/${id}`)).json.status).toBe('running')
  }
  const { json } = await service.send(`/v1/sandboxes/${sandboxId}/pty`)
  expect(json).toMatchObject({ total: 1, sessions: [{ session_id: terminalId, cols: 80, rows: 24, state: 'running' }] })
  expect((await service.send('/v1/sandboxes', { key: foreignKey })).json.count).toBe(0)
})

test.each(nameRoutes(order))('%s returns its status and a response that matches its schema', async (_, route) => {
  const answer = await ask(route)
  expect(answer.status, answer.text).toBe(route.status)
  const type = route.raw?.response?.mediaTypes[0] ?? 'application/json'
  expect(answer.headers['content-type']).toBe(type === 'application/json' ? `${type}; charset=utf-8` : type)
  expect(route.response.safeParse(answer.json).error?.issues ?? [], answer.text).toEqual([])
})

test('aliases respond like their canonical paths', async () => {
  const written = await service.send(`/v1/sandboxes/${sandboxId}/files`, {
    body: { path: '/tmp/alias.txt', content: 'by its short name' },
  })
  expect(written.status).toBe(201)
  const read = await service.send(`/v1/sandboxes/${sandboxId}/files?path=/tmp/alias.txt`)
  expect(read.json).toEqual({ path: '/tmp/alias.txt', content: 'by its short name', encoding: 'utf8', size: 17 })
})

test('a deleted sandbox returns 404 and leaves the list', async () => {
  expect((await service.send(`/v1/sandboxes/${spareId}`)).status).toBe(404)
  const listed = await service.send('/v1/sandboxes')
  expect(listed.json.sandboxes.map((it: { id: string }) => it.id)).not.toContain(spareId)
  expect(listed.json.data).toEqual(listed.json.sandboxes)
  expect(listed.json.count).toBe(listed.json.sandboxes.length)
  expect(getSandbox.response.safeParse(listed.json.sandboxes[0]).success).toBe(true)
})
