import { readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createUserSessions } from '#agent/api/userSessions.ts'
import { type RunningApp, startApp } from '#agent/compose/compose.ts'
import { readEnvironment } from '#config/config.ts'
import { readStartOptions } from '#config/startOptions.ts'
import { createTimeSource } from '#platform/time/timeSource.ts'
import { windowKeyHeader } from '#shared/contract/localApi.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { openPersonSession, type PersonSession } from '../support/clients/personSession.ts'
import { sendSecurePrompt } from '../support/clients/securePromptForms.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { openTestWallet } from '../support/fixtures/openTestWallet.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { exchange, type Json } from '../support/processes/runningService.ts'
import { runCommand } from '../support/processes/runTool.ts'

/** Only the user's session may decide. Every other credential tries all operations that are reserved for the user. */
const passphrase = 'several words of a person'
const dataFolder = temporaryFolder('data')
let app: RunningApp
let port: number
let session: PersonSession
let intentId: string
let grantId: string
let accountId: string
let keyringId: string
let ownerKey: string
/** Credentials of this run, of the previous run, and of other principals. */
let credentials: Record<string, Record<string, string>>

type HttpRequest = { path: string; method?: string; headers?: Record<string, string>; body?: unknown }
type Answer = { status: number; json: Json; headers: NodeJS.Dict<string | string[]> }

/** Unlike fetch, sends any path and headers unchanged. */
function send({ path, method = 'GET', headers = {}, body }: HttpRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const type = text === undefined ? {} : { 'content-type': 'application/json' }
    const fields = { host: `127.0.0.1:${port}`, ...type, ...headers }
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: fields, agent: false }, (reply) => {
      let said = ''
      reply.setEncoding('utf8')
      reply.on('data', (piece: string) => {
        said += piece
      })
      reply.on('end', () => {
        const isJson = String(reply.headers['content-type']).startsWith('application/json')
        resolve({ status: reply.statusCode ?? 0, json: isJson ? JSON.parse(said) : said, headers: reply.headers })
      })
    })
    request.on('error', reject)
    request.end(text)
  })
}

const asPerson = (request: HttpRequest) => send({ ...request, headers: { ...session, ...request.headers } })

const openSession = () => openPersonSession(app.origin, new URL(app.freshUrl()).hash.slice('#token='.length))

async function start(): Promise<void> {
  const options = readStartOptions(['--data', dataFolder, '--listen', '127.0.0.1:0'], {})
  app = await startApp({
    ...options,
    shell: 'browser',
    environment: readEnvironment(),
    now: Date.now,
    time: createTimeSource(),
  })
  port = Number(new URL(app.origin).port)
}

beforeAll(async () => {
  writeFileSync(join(dataFolder, 'config.json'), '{"wallet":{"secret_store":"vault_file"}}')
  const wallet = openTestWallet({ folder: dataFolder })
  const keyring = await wallet.wallet.addPhrase({
    phrase: await wallet.wallet.makePhrase(12),
    writtenDown: true,
    passphrase,
  })
  wallet.close()
  keyringId = keyring.id
  accountId = keyring.accounts[0]?.id ?? ''
  await start()
  const oldSession = await openSession()
  await app.close()
  await start()
  session = await openSession()
  ownerKey = readFileSync(join(dataFolder, 'owner.key'), 'utf8').trim()
  credentials = await everyOther(oldSession)
  await sendSecurePrompt({ origin: app.origin, session, body: { purpose: 'unlock' }, fields: { passphrase } })
  // Once unlocked, the agent signs in to its own service for each chain. This must be complete before the snapshots
  // below are compared.
  await eventually(async () => {
    const { json } = await asPerson({ path: '/local/intents?state=signed' })
    expect(json.intents.filter(({ requester }: Json) => requester.kind === 'agent')).toHaveLength(2)
  })

  const ask = async (domain: string): Promise<string> => {
    const intent = { kind: 'siwe', domain, uri: `https://${domain}/`, nonce: 'abcdefgh12345678' }
    const headers = { 'x-api-key': ownerKey }
    const requested = await send({ path: '/local/intents', method: 'POST', headers, body: { intent } })
    expect(requested).toMatchObject({ status: 201, json: { state: 'waiting', requester: { kind: 'client' } } })
    return requested.json.id
  }
  const granted = await asPerson({
    path: `/local/intents/${await ask('granted.example')}/decision`,
    method: 'POST',
    body: { approve: true, grant: { times: 5 } },
  })
  expect(granted).toMatchObject({ status: 200, json: { state: 'signed' } })
  grantId = (await asPerson({ path: '/local/grants' })).json.grants[0].id
  intentId = await ask('waiting.example')
})

afterAll(async () => {
  await app?.close()
  await runCommand(projectFolder, process.execPath, ['scripts/start.ts', 'stop', '--data', dataFolder])
})

/** Returns each credential as the headers in which a program would send it. */
async function everyOther(oldSession: PersonSession): Promise<typeof credentials> {
  const url = app.serviceUrl
  const call = async (path: string, body?: unknown, key = ownerKey): Promise<Json> => {
    const { status, json, text } = await exchange(url, path, { key, method: 'POST', body: body ?? {} })
    expect(status, `${path}: ${text}`).toBeLessThan(300)
    return json
  }
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const wallet = evmWallet()
  await call('/v1/auth/wallets', await wallet.signedMessage(url))
  const { json: tokens } = await wallet.signIn(url)
  const { json: foreignTokens } = await evmWallet().signIn(url)
  const sandbox = await call('/v1/sandboxes', { name: 'authority' })
  const link = await call(`/v1/sandboxes/${sandbox.id}/terminal-session`)
  const exposed = await call(`/v1/sandboxes/${sandbox.id}/ports/expose`, { port: 3000, visibility: 'private' })
  const sessions = createUserSessions()
  const foreign = sessions.exchange(sessions.issueToken())
  const otherSession = await openSession()
  const { cookie, [windowKeyHeader]: windowKey } = session
  const [cookieName] = cookie.split('=')
  const portAccess = await call(`/v1/sandboxes/${sandbox.id}/ports/${exposed.port}/token`)
  const ownSession = session
  return {
    nothing: {},
    'the owner key': bearer(ownerKey),
    'the owner key as x-api-key': { 'x-api-key': ownerKey },
    'the owner key as a cookie': { ...session, cookie: `${cookieName}=${ownerKey}` },
    'an API key of this account': bearer((await call('/v1/auth/api-keys', { name: 'script' })).key),
    'an API key of another account': bearer(secondAccount(dataFolder).key),
    'an access token of this account': bearer(tokens.access_token),
    'a refresh token of this account': bearer(tokens.refresh_token),
    'an access token of another account': bearer(foreignTokens.access_token),
    'the token of a terminal link': bearer(link.token),
    'the token of a port': bearer(portAccess.token),
    'the cookie of an earlier start': { cookie: oldSession.cookie },
    'the key of the window of an earlier start': { [windowKeyHeader]: oldSession[windowKeyHeader] },
    'the cookie of an earlier start with the key of this one': {
      cookie: oldSession.cookie,
      [windowKeyHeader]: windowKey,
    },
    'the session of another Steward': {
      cookie: `${cookieName}=${foreign?.secret}`,
      [windowKeyHeader]: foreign?.windowKey ?? '',
    },
    'the cookie alone': { cookie },
    'the key of the window alone': { [windowKeyHeader]: windowKey },
    'the key of the window as an API key': { cookie, ...bearer(windowKey) },
    'the cookie with an empty key': { cookie, [windowKeyHeader]: '' },
    'the cookie with the key of another session': { cookie, [windowKeyHeader]: otherSession[windowKeyHeader] },
    'the cookie as the key of the window': { cookie, [windowKeyHeader]: cookie.slice(`${cookieName}=`.length) },
    'the key of the window as the cookie': { ...session, cookie: `${cookieName}=${windowKey}` },
    'the session of a page elsewhere': { ...ownSession, origin: 'https://attacker.example' },
    'the session of a page without an origin': { ...ownSession, origin: 'null' },
    'the session of another local page': { ...ownSession, 'sec-fetch-site': 'same-site' },
    'the session of another site': { ...ownSession, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    'the session by a rebound name': { ...ownSession, host: 'attacker.example' },
    'the session by the name of the secure prompts': { ...ownSession, host: `wallet.localhost:${port}` },
    'the session with an API key': { ...ownSession, 'x-api-key': ownerKey },
    'the session with an empty key': { ...ownSession, authorization: '' },
  }
}

/** Requests reserved for the user. */
function deeds(): HttpRequest[] {
  const policy = { rules: [], confirm_above_micro_usd: '1', expiry_minutes: 3 }
  const prompt = { theme: 'light', keyring_id: keyringId, account_id: accountId, intent_id: intentId }
  return [
    { method: 'POST', path: `/local/intents/${intentId}/decision`, body: { approve: true } },
    { method: 'POST', path: `/local/intents/${intentId}/decision`, body: { approve: false } },
    { method: 'POST', path: `/local/intents/${intentId}/decision`, body: { approve: true, grant: { times: 9 } } },
    { path: '/local/intents' },
    { path: '/local/policy' },
    { method: 'PUT', path: '/local/policy', body: policy },
    { method: 'POST', path: '/local/stop', body: { stopped: true } },
    { path: '/local/grants' },
    { method: 'DELETE', path: `/local/grants/${grantId}` },
    { method: 'POST', path: '/local/wallet/lock', body: {} },
    { method: 'PATCH', path: '/local/wallet', body: { auto_lock_minutes: 1 } },
    { method: 'POST', path: '/local/wallet/accounts', body: { keyring_id: keyringId, chain_type: 'evm' } },
    ...['confirm', 'reveal', 'export', 'remove'].map((purpose) => ({
      method: 'POST',
      path: '/local/secure-prompts',
      body: { ...prompt, purpose },
    })),
    { path: '/local/activity' },
    { path: '/local/activity/export' },
  ]
}

/** Returns all of the user's data as the user sees it. */
async function everything(): Promise<Json[]> {
  const paths = ['/local/intents', '/local/policy', '/local/grants', '/local/wallet']
  const responses: Json[] = []
  for (const path of paths) {
    const { status, json } = await asPerson({ path })
    expect(status).toBe(200)
    responses.push(json)
  }
  return responses
}

/** Asserts that the response neither succeeds nor reveals what exists. */
function expectRefused({ status, json }: Answer, subject: string): void {
  expect([400, 401, 403, 404, 405, 426, 429], `${subject}: ${status} ${JSON.stringify(json)}`).toContain(status)
  expect(JSON.stringify(json), subject).not.toMatch(/waiting\.example|granted\.example|micro_usd/)
}

describe('only the user session', () => {
  test('makes decisions, controls the wallet and policy and reads the inbox', async () => {
    const before = await everything()
    for (const [name, headers] of Object.entries(credentials)) {
      for (const deed of deeds())
        expectRefused(await send({ ...deed, headers }), `${name}: ${deed.method} ${deed.path}`)
    }
    expect(await everything()).toEqual(before)
    // The other intents are those with which the agent signed in to its own service.
    expect(before[0]).toMatchObject({ waiting: 1 })
    expect(before[0]?.intents).toContainEqual(expect.objectContaining({ id: intentId, state: 'waiting' }))
  })

  test('receives events over a WebSocket', async () => {
    const refused = Object.entries(credentials).flatMap(([name, headers]) =>
      // A key sent with the session does not affect events, which belong to the page.
      name.startsWith('the session with') ? [] : [{ name, headers }],
    )
    for (const { name, headers } of refused) {
      for (const path of ['/local/events', `/local/intents/${intentId}/decision`, '/local/intents']) {
        const status = await readUpgradeStatus(path, headers)
        expect([401, 403, 404], `${name}: ${path}`).toContain(status)
      }
    }
  })

  test('is required for every spelling of the path', async () => {
    const before = await everything()
    const decision = `/local/intents/${intentId}/decision`
    const spellings = [
      `${decision}/`,
      `/${decision}`,
      `/local//intents/${intentId}/decision`,
      `/LOCAL/intents/${intentId}/decision`,
      `/local/intents/${intentId}/Decision`,
      `/local/intents/${intentId}/%64ecision`,
      `/%6cocal/intents/${intentId}/decision`,
      `/local%2fintents/${intentId}/decision`,
      `/v1/../local/intents/${intentId}/decision`,
      `/local/x/../intents/${intentId}/decision`,
      `/local/intents/./${intentId}/decision`,
      `${decision};a=b`,
      `${decision}%00`,
      `${decision}?token=${ownerKey}`,
      `${decision}?x-api-key=${ownerKey}&cookie=${session.cookie}`,
      `http://127.0.0.1:${port}${decision}`,
      `\\local\\intents\\${intentId}\\decision`,
    ]
    for (const headers of [{}, { 'x-api-key': ownerKey }]) {
      for (const path of spellings) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'post', 'OPTIONS', 'GET']) {
          const answer = await send({ path, method, headers, body: { approve: true } }).catch(() => undefined)
          const isPage = typeof answer?.json === 'string' // the renderer itself, which contains no data
          if (answer && !(method === 'GET' && isPage)) {
            expect(answer.status, `${method} ${path}`).toBeGreaterThanOrEqual(400)
          }
        }
      }
      for (const override of ['x-http-method-override', 'x-method-override', 'x-original-url', 'x-forwarded-host']) {
        const tricked = await send({ path: decision, headers: { ...headers, [override]: decision } })
        expectRefused(tricked, override)
      }
    }
    expect(await everything()).toEqual(before)
  })
})

test('a client sees and cancels only the requests that it made', async () => {
  const otherCredential = credentials['an API key of this account'] ?? {}
  const path = `/local/intents/${intentId}`
  for (const method of ['GET', 'DELETE']) {
    expect(await send({ path, method, headers: otherCredential })).toMatchObject({
      status: 404,
      json: { code: 'intent/not-found' },
    })
  }
  const ownCredential = { 'x-api-key': ownerKey }
  expect(await send({ path, headers: ownCredential })).toMatchObject({ status: 200, json: { state: 'waiting' } })
  const token = credentials['an access token of this account'] ?? {}
  const intent = { kind: 'siwe', domain: 'token.example', uri: 'https://token.example/', nonce: 'abcdefgh12345678' }
  const requested = await send({ path: '/local/intents', method: 'POST', headers: token, body: { intent } })
  expect(requested.json.requester).toMatchObject({ kind: 'client', id: expect.stringMatching(/^token:[0-9a-f]{24}$/) })
  for (const name of ['an API key of another account', 'the token of a terminal link', 'the token of a port']) {
    const refused = await send({
      path: '/local/intents',
      method: 'POST',
      headers: credentials[name] ?? {},
      body: { intent },
    })
    expect([401, 403, 429], name).toContain(refused.status)
  }
  expect(await send({ path: `/local/intents/${requested.json.id}`, method: 'DELETE', headers: token })).toMatchObject({
    status: 200,
    json: { state: 'denied' },
  })
})

test('a retry with the idempotency key after a lost response returns one signature', async () => {
  const intent = { kind: 'siwe', domain: 'granted.example', uri: 'https://granted.example/', nonce: 'onceonly12345678' }
  const createRequest = (headers: Record<string, string>, reason = 'Order 7'): HttpRequest => ({
    path: '/local/intents',
    method: 'POST',
    headers: { 'x-api-key': ownerKey, 'idempotency-key': 'order 7', ...headers },
    body: { intent, reason },
  })
  const readTimesLeft = async () => (await asPerson({ path: '/local/grants' })).json.grants[0].times_left
  const before = await readTimesLeft()
  await sendAndLeave(createRequest({}))
  const answers = await Promise.all([send(createRequest({})), send(createRequest({}))])
  answers.push(await send(createRequest({})))
  const [first] = answers
  expect(first).toMatchObject({ status: 201, json: { state: 'signed', reason: 'Order 7' } })
  for (const { status, json } of answers) expect([status, json]).toEqual([201, first?.json])
  expect(answers.at(-1)?.headers).toMatchObject({ 'idempotent-replayed': 'true' })
  expect(await readTimesLeft()).toBe(before - 1)

  expect(await send(createRequest({}, 'Order 8'))).toMatchObject({ status: 409, json: { code: 'request/reused-key' } })
  expect(await send(createRequest({ 'idempotency-key': 'x'.repeat(129) }))).toMatchObject({
    status: 400,
    json: { code: 'request/invalid' },
  })
  const another = await send(createRequest({ 'idempotency-key': 'order 7b' }))
  expect(another.json).toMatchObject({ state: 'signed', id: expect.not.stringMatching(first?.json.id) })
  const { authorization = '' } = credentials['an API key of this account'] ?? {}
  const others = await send({ ...createRequest({}), headers: { authorization, 'idempotency-key': 'order 7' } })
  expect(others).toMatchObject({ status: 201, json: { state: 'waiting' } })
  expect(others.headers).not.toHaveProperty('idempotent-replayed')
  await send({ path: `/local/intents/${others.json.id}`, method: 'DELETE', headers: { authorization } })
})

/** Disconnects before the response. */
function sendAndLeave({ path, method, headers, body }: HttpRequest): Promise<void> {
  return new Promise((resolve) => {
    const fields = { host: `127.0.0.1:${port}`, 'content-type': 'application/json', ...headers }
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: fields, agent: false })
    request.on('error', () => {}) // the connection was aborted
    request.once('close', resolve)
    request.end(JSON.stringify(body), () => request.destroy())
  })
}

test('the user session performs all of these actions', async () => {
  const decided = await asPerson({
    path: `/local/intents/${intentId}/decision`,
    method: 'POST',
    body: { approve: true },
  })
  expect(decided).toMatchObject({ status: 200, json: { state: 'signed', decision: { by: 'person' } } })
  expect(await asPerson({ path: `/local/grants/${grantId}`, method: 'DELETE' })).toMatchObject({ status: 200 })
  const stopped = await asPerson({ path: '/local/stop', method: 'POST', body: { stopped: true } })
  expect(stopped.json).toMatchObject({ stopped: true })
  expect((await asPerson({ path: '/local/wallet/lock', method: 'POST', body: {} })).json).toMatchObject({
    state: 'locked',
  })
})

/** Returns the status with which a WebSocket was refused, or 101 if it was accepted. */
function readUpgradeStatus(path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers })
    socket.on('error', () => {}) // the response has the status
    socket.on('open', () => {
      socket.terminate()
      resolve(101)
    })
    socket.on('unexpected-response', (request, reply) => {
      request.destroy()
      resolve(reply.statusCode ?? 0)
    })
  })
}
