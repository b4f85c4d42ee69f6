import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Route } from '#shared/contract/route.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { seedDomain } from '../support/fixtures/seedDomain.ts'
import { createInferenceOptions } from '../support/models/inferenceOptions.ts'
import { createProviderServer } from '../support/models/providerServer.ts'
import { type Answer, exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * Every operation of the contract on the owner's resources, under each of its paths, and every WebSocket, called by a
 * user who signed in with another wallet. The owner's resources do not exist for that user.
 */
let service: TestService
let strangerKey: string
let strangerSandbox: string
const stranger = evmWallet()
const linked = evmWallet()
/** Second account, to which the other user can transfer credits. */
const third = evmWallet()
const providers = await createProviderServer()
const freeModel = 'shed-model'
const freeEmbeddingModel = 'nomic-embed-text'
const messages = [{ role: 'user', content: 'Hello' }]
/** Names and ids of the owner's resources. No response to the other user may contain them. */
const marks: string[] = []
const theirs: Record<string, string> = {
  domain: 'theirs.example',
  port: '3000',
  name: 'theirs',
  pid: '1000',
  family: 'a',
}
const nowhere: Record<string, string> = {
  id: 'f'.repeat(32),
  sessionId: `pty_${'f'.repeat(24)}`,
  snapshotId: `snap_${'f'.repeat(24)}`,
  uploadId: `upl_${'f'.repeat(24)}`,
  keyId: `key_${'f'.repeat(24)}`,
  address: `0x${'f'.repeat(40)}`,
  recordId: `rec_${'f'.repeat(24)}`,
  domain: 'nowhere.example',
  port: '3000',
  pid: '1000',
  family: 'b',
}

beforeAll(async () => {
  service = await runningService({
    inference: createInferenceOptions(providers),
    payments: { facilitator: { kind: 'test-ledger' } },
  })
  const createThing = async (path: string, body: unknown, field: string): Promise<string> => {
    const { json, text } = await service.send(path, { body })
    expect(json[field], text).toBeDefined()
    marks.push(String(json[field]))
    return String(json[field])
  }
  theirs.id = await createThing('/v1/sandboxes', { name: 'theirs' }, 'id')
  const sandbox = `/v1/sandboxes/${theirs.id}`
  theirs.sessionId = await createThing(`${sandbox}/pty`, { command: 'echo theirs; cat', name: 'theirs' }, 'session_id')
  theirs.snapshotId = await createThing(`${sandbox}/snapshots`, { name: 'theirs' }, 'id')
  theirs.uploadId = await createThing(`${sandbox}/files/uploads`, { path: '/tmp/theirs', size: 3 }, 'upload_id')
  theirs.keyId = await createThing('/v1/auth/api-keys', { name: 'theirs' }, 'id')
  theirs.address = linked.address
  marks.push(linked.address, theirs.domain ?? '', 'theirs', service.key)
  await createThing(`${sandbox}/ports/expose`, { port: 3000, visibility: 'private' }, 'url')
  expect((await service.send(`${sandbox}/domains`, { body: { domain: theirs.domain, port: 3000 } })).status).toBe(201)
  expect((await service.send('/v1/auth/wallets', { body: await linked.signedMessage(service.url) })).status).toBe(201)
  marks.push((await service.send('/v1/auth/me')).json.id)

  const { id: ownerId } = (await service.send('/v1/auth/me')).json
  seedDomain(service.dataDir, { accountId: ownerId, name: 'theirs.example' })
  strangerKey = (await stranger.signIn(service.url)).json.access_token
  await third.signIn(service.url)
  const grant = { to_address: stranger.address, amount_cents: 100 }
  expect((await service.send('/v1/credits/grants', { body: grant })).status).toBe(200)
  const ownSandbox = await service.send('/v1/sandboxes', { key: strangerKey, body: { name: 'mine' } })
  strangerSandbox = ownSandbox.json.id
})
afterAll(async () => {
  await service?.close()
  await providers.close()
})

type RequestFields = { query?: string; body?: unknown; headers?: Record<string, string> }
type Line =
  /** Needs no credential, and reveals nothing about any account. */
  | { kind: 'open' }
  /** Reserved for the owner of the service, or the user at its window. */
  | ({ kind: 'owner' } & RequestFields)
  /** Concerns only the caller. */
  | ({ kind: 'own' } & RequestFields)
  /** Allowed for any payer. */
  | ({ kind: 'paid' } & RequestFields)
  /** Concerns a resource that has an owner. Other users get the same response as for a resource that never existed. */
  | ({ kind: 'missing' } & RequestFields)

const bytes = { 'content-type': 'application/octet-stream' }
const missing = (fields: RequestFields = {}): Line => ({ kind: 'missing', ...fields })
const ownLine = (fields: RequestFields = {}): Line => ({ kind: 'own', ...fields })
const open: Line = { kind: 'open' }

/** One line for each operation. A new operation fails here until its access by other users is defined. */
const lines: Record<string, Line> = {
  health: open,
  authNonce: open,
  authVerify: open,
  authSolanaVerify: open,
  authRefresh: open,
  authLogout: open,
  automatonRegister: open,
  automatonGet: open,
  authMe: ownLine(),
  authWalletLink: ownLine(),
  authWalletUnlink: missing(),
  apiKeyCreate: ownLine({ body: { name: 'mine' } }),
  apiKeyList: ownLine(),
  apiKeyRevoke: missing(),
  accountRequestList: { kind: 'owner' },
  accountRequestDecide: { kind: 'owner', body: { allow: true } },
  providerTest: { kind: 'owner' },
  runtimeList: ownLine(),
  imageList: ownLine(),
  imageAdd: { kind: 'owner', body: { name: 'mine', source: { kind: 'archive', path: '/etc/passwd' } } },
  imageRemove: { kind: 'owner' },
  sandboxHostGet: { kind: 'owner' },
  sandboxHostReplace: { kind: 'owner' },
  foundSandboxList: ownLine(),
  removedThingList: ownLine(),
  foundSandboxAdopt: { kind: 'owner' },
  foundSandboxDelete: { kind: 'owner' },
  sandboxCreate: ownLine({ body: { name: 'mine too' } }),
  sandboxList: ownLine(),
  sandboxGet: missing(),
  sandboxChange: missing({ body: { name: 'taken' } }),
  sandboxDelete: missing(),
  sandboxStop: missing(),
  sandboxStart: missing(),
  sandboxExecOutput: missing({ query: `?watch=${'f'.repeat(32)}` }),
  sandboxExec: missing({ body: { command: 'true' } }),
  snapshotCreate: missing({ body: {} }),
  snapshotList: missing(),
  snapshotRestore: missing(),
  snapshotFork: missing({ body: {} }),
  snapshotDelete: missing(),
  fileUpload: missing({ body: { path: '/tmp/x', content: 'x' } }),
  fileRead: missing({ query: '?path=/etc/hostname' }),
  fileList: missing({ query: '?path=/' }),
  fileStat: missing({ query: '?path=/' }),
  fileDownload: missing({ query: '?path=/etc/hostname' }),
  folderDownload: missing({ query: '?path=/etc' }),
  folderCreate: missing({ body: { path: '/tmp/x' } }),
  fileMove: missing({ body: { from: '/etc/hostname', to: '/tmp/x' } }),
  fileCopy: missing({ body: { from: '/etc/hostname', to: '/tmp/x' } }),
  fileRemove: missing({ query: '?path=/etc/hostname' }),
  uploadBegin: missing({ body: { path: '/tmp/x', size: 3 } }),
  uploadAppend: missing({ body: 'abc', headers: { ...bytes, 'upload-offset': '0' } }),
  uploadGet: missing(),
  uploadCancel: missing(),
  portExpose: missing({ body: { port: 3000 } }),
  portList: missing(),
  portListening: missing(),
  portTokenCreate: missing(),
  portRemove: missing(),
  sandboxDomainAdd: missing({ body: { domain: 'mine.example', port: 3000 } }),
  sandboxDomainList: missing(),
  sandboxDomainRemove: missing(),
  terminalCreate: missing({ body: { command: 'cat' } }),
  terminalList: missing({ query: '?all=true' }),
  terminalSearch: ownLine({ query: '?q=theirs' }),
  terminalWrite: missing({ body: { input: 'x' } }),
  terminalRead: missing({ query: '?full=true' }),
  terminalChange: missing({ body: { name: 'taken' } }),
  terminalResize: missing({ body: { cols: 90, rows: 25 } }),
  terminalClose: missing(),
  terminalLinkCreate: missing(),
  sandboxMetrics: missing(),
  processList: missing(),
  // Process ids are numbers inside the caller's own sandbox, so those of another sandbox are not secret.
  processSignal: missing({ body: { signal: 'SIGCONT' } }),
  commandList: missing(),
  activityList: missing(),
  accountActivityList: ownLine({ query: '?limit=500' }),
  automatonNonce: ownLine({ body: {} }),
  automatonList: ownLine(),
  creditsBalance: ownLine(),
  creditsHistory: ownLine({ query: '?limit=100' }),
  creditsHistoryExport: ownLine(),
  creditsSpending: ownLine({ query: '?by=key' }),
  creditsPricing: ownLine(),
  creditsTransfer: ownLine({ body: { to_address: third.address, amount_cents: 1 } }),
  creditsGrant: { kind: 'owner', body: { to_address: third.address, amount_cents: 1 } },
  creditsAdjust: { kind: 'owner', body: { amount_cents: -1, note: 'Less' } },
  creditsRefund: { kind: 'owner', body: { transaction_id: `txn_${'f'.repeat(24)}` } },
  domainSearch: open,
  domainCheck: open,
  domainPricing: open,
  domainList: ownLine(),
  domainGet: missing(),
  domainRegister: { kind: 'paid', body: { domain: 'stranger.com' } },
  domainRenew: missing({ body: {} }),
  domainQuote: ownLine({ body: { domain: 'stranger.com' } }),
  domainAuthCode: missing(),
  domainPrivacy: missing({ body: { enabled: false } }),
  domainLock: missing({ body: { enabled: false } }),
  domainNameservers: missing({ body: { nameservers: ['ns1.example.net', 'ns2.example.net'] } }),
  dnsList: missing(),
  dnsAdd: missing({ body: { type: 'TXT', host: '@', value: 'x' } }),
  dnsUpdate: missing({ body: { ttl: 600 } }),
  dnsDelete: missing(),
  dnsOrphanedList: missing(),
  dnsOrphanedRemove: missing(),
  domainTransactions: ownLine(),
  creditsBuy: open,
  paymentsFaucet: { kind: 'owner', body: { address: third.address } },
  paymentsDiscovery: open,
  paymentsBalance: ownLine(),
  paymentsAuthorization: ownLine(),
  modelList: ownLine(),
  modelGet: missing(),
  chatCompletionCreate: ownLine({ body: { model: freeModel, messages } }),
  responseCreate: ownLine({ body: { model: freeModel, input: 'Hello' } }),
  messageCreate: ownLine({ body: { model: freeModel, messages, max_tokens: 100 } }),
  embeddingsCreate: ownLine({ body: { model: freeEmbeddingModel, input: 'Hello' } }),
  messageCountTokens: ownLine({ body: { model: freeModel, messages } }),
}

const every = routeTable.flatMap((route) =>
  [route.path, ...route.aliases].map((path) => [`${route.method} ${path}`, route, path] as const),
)
const ofKind = (kind: Line['kind']) => every.filter(([, { operation }]) => lines[operation]?.kind === kind)

async function ask(route: Route, path: string, values: Record<string, string>): Promise<Answer> {
  const { query = '', body, headers } = { body: undefined, headers: {}, ...(lines[route.operation] as RequestFields) }
  const signed = route.operation === 'authWalletLink' ? await evmWallet().signedMessage(service.url) : body
  return exchange(service.url, `${fillPath(path, values)}${query}`, {
    method: route.method,
    key: strangerKey,
    ...(headers && { headers }),
    ...(signed !== undefined && { body: signed }),
  })
}

function fillPath(path: string, values: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? `:${name}`)
}

/** Removes the requested values, which an error message may quote. */
function normalize({ text }: Pick<Answer, 'text'>, values: Record<string, string>): string {
  const ids = Object.entries(values).filter(([, value]) => value.length > 8)
  ids.sort(([, a], [, b]) => b.length - a.length)
  return ids.reduce((text, [name, value]) => text.replaceAll(value, `:${name}`), text)
}

test('the table contains exactly one line for each operation', () => {
  expect(Object.keys(lines).sort()).toEqual(routeTable.map(({ operation }) => operation).sort())
})

test.each(ofKind('open'))('%s needs no credential', (_, { auth }) => expect(auth).toBe('none'))

test.each([...ofKind('missing'), ...ofKind('own'), ...ofKind('paid')])('%s needs a credential', (_, { auth }) =>
  expect(['key', 'account']).toContain(auth),
)

test.each(ofKind('owner'))('%s is restricted to the owner', async (_, route, path) => {
  expect(['owner', 'person']).toContain(route.auth)
  expect(await ask(route, path, theirs)).toMatchObject({ status: 403, json: { code: 'auth/forbidden' } })
})

test.each(ofKind('own'))('%s reveals no other account to the stranger', async (_, route, path) => {
  const { status, text } = await ask(route, path, { address: third.address, nonce: `0x${'1'.repeat(64)}` })
  expect(status, text).toBe(route.status)
  for (const mark of marks) expect(text).not.toContain(mark)
})

test.each(ofKind('paid'))('%s requires the stranger to pay', async (_, route, path) => {
  const { status, text } = await ask(route, path, {})
  expect(status, text).toBe(402)
  for (const mark of marks) expect(text).not.toContain(mark)
})

test.each(ofKind('missing'))('%s: returns 404 for resources of the owner', async (_, route, path) => {
  const foreign = await ask(route, path, theirs)
  const unknown = await ask(route, path, nowhere)
  expect([foreign.status, unknown.status]).toEqual([404, 404])
  expect(normalize(foreign, theirs)).toBe(normalize(unknown, nowhere))
})

const within = ofKind('missing').filter(
  ([, { operation }, path]) => path.split(':').length > 2 && !path.includes(':pid') && operation !== 'portRemove',
)
test.each(within)(
  '%s: returns 404 for resources of the owner inside a sandbox of the stranger',
  async (_, route, path) => {
    const foreign = await ask(route, path, { ...theirs, id: strangerSandbox })
    const unknown = await ask(route, path, { ...nowhere, id: strangerSandbox })
    expect([foreign.status, unknown.status]).toEqual([404, 404])
    expect(normalize(foreign, theirs)).toBe(normalize(unknown, nowhere))
  },
)

test('every WebSocket rejects the stranger or reveals no other account', async () => {
  const { json } = await service.send('/openapi.json')
  const sockets = Object.entries<Record<string, { responses: object }>>(json.paths)
    .filter(([, methods]) => Object.values(methods).some(({ responses }) => '101' in responses))
    .map(([path]) => path.replace(/\{(\w+)\}/g, ':$1'))
  expect(sockets.sort()).toEqual(['/v1/events', '/v1/sandboxes/:id/pty/:sessionId/stream'])
  const headers = { authorization: `Bearer ${strangerKey}` }

  const closedWith = async (values: Record<string, string>) => {
    const path = fillPath('/v1/sandboxes/:id/pty/:sessionId/stream', values)
    const socket = await openSocket(`${service.url}${path}`, { headers }).catch(String)
    if (typeof socket === 'string') return socket
    await eventually(() => expect(socket.closed).toBeDefined())
    return normalize({ text: JSON.stringify([socket.closed, socket.messages, socket.text]) }, values)
  }
  expect(await closedWith(theirs)).toBe(await closedWith(nowhere))
  expect(await closedWith({ ...theirs, id: strangerSandbox })).toBe(
    await closedWith({ ...nowhere, id: strangerSandbox }),
  )

  const events = await openSocket(`${service.url}/v1/events`, { headers })
  await findMessage(events, { type: 'ready' })
  await service.send(`/v1/sandboxes/${theirs.id}`, { method: 'PATCH', body: { name: 'theirs again' } })
  await service.send(`/v1/sandboxes/${strangerSandbox}`, { method: 'PATCH', key: strangerKey, body: { name: 'last' } })
  await findMessage(events, { type: 'sandbox.changed' })
  for (const mark of marks) expect(JSON.stringify(events.messages)).not.toContain(mark)
  events.close()
})

test('an Idempotency-Key of the owner returns no stored response to the stranger', async () => {
  const request = { body: { command: 'echo theirs; id -u' }, headers: { 'idempotency-key': 'one' } }
  expect((await service.send(`/v1/sandboxes/${theirs.id}/exec`, request)).status).toBe(200)
  const path = `/v1/sandboxes/${theirs.id}/exec`
  expect((await service.send(path, { ...request, key: strangerKey })).status).toBe(404)
})

test('a private port of the owner opens only with a key of the owner', async () => {
  const host = `3000-${theirs.id}.localhost:${new URL(service.url).port}`
  const requestPort = (key: string) => service.send('/', { key, headers: { host } })
  const foreign = await requestPort(strangerKey)
  const wrong = await requestPort(`${strangerKey}x`)
  expect([foreign.status, wrong.status]).toEqual([401, 401])
  expect(foreign.text).toBe(wrong.text)
  expect((await requestPort(service.key)).status).not.toBe(401)
})

test('requests by the stranger change nothing', async () => {
  const sandbox = `/v1/sandboxes/${theirs.id}`
  expect((await service.send(sandbox)).json).toMatchObject({ name: 'theirs again', status: 'running' })
  expect((await service.send(`${sandbox}/pty`)).json.sessions).toMatchObject([
    { session_id: theirs.sessionId, cols: 80 },
  ])
  expect((await service.send(`${sandbox}/snapshots`)).json.snapshots).toMatchObject([{ name: 'theirs' }])
  expect((await service.send(`${sandbox}/files/uploads/${theirs.uploadId}`)).json.offset).toBe(0)
  expect((await service.send(`${sandbox}/ports`)).json.ports).toMatchObject([{ port: 3000, visibility: 'private' }])
  expect((await service.send(`${sandbox}/domains`)).json.domains).toMatchObject([{ domain: theirs.domain }])
  expect((await service.send('/v1/auth/me')).json.wallets).toMatchObject([{ wallet_address: linked.address }])
  expect((await service.send('/v1/sandboxes')).json.count).toBe(1)
})
