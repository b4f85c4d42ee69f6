import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { startLocalServer } from '#agent/api/localServer.ts'
import { createUserSessions } from '#agent/api/userSessions.ts'
import { createLocalEvents } from '#agent/base/localEvents.ts'
import { createServiceLink } from '#agent/connections/serviceLink.ts'
import { silentLog } from '#platform/logging/log.ts'
import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { LocalEvent, windowKeyHeader } from '#shared/contract/localApi.ts'
import { until } from '../support/assertions/eventually.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { type FakeService, startFakeService } from '../support/fakes/fakeService.ts'
import { rawExchange } from '../support/fakes/pipelineServer.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { noIpv6Loopback } from '../support/runner/ipv6Loopback.ts'

const ownerKey = 'sk_steward_owner'

async function startAgent(service?: FakeService) {
  const pagesFolder = join(temporaryFolder('pages'), 'renderer')
  mkdirSync(join(pagesFolder, 'assets'), { recursive: true })
  writeFileSync(join(pagesFolder, 'index.html'), '<!doctype html><title>Steward</title>')
  writeFileSync(join(pagesFolder, 'terminal.html'), '<!doctype html><title>Terminal</title>')
  writeFileSync(join(pagesFolder, 'assets', 'app-1a2b.js'), 'export {}')
  writeFileSync(join(pagesFolder, '..', 'secret.html'), 'never served')
  const link = createServiceLink({ name: 'This computer', kind: 'embedded', log: silentLog })
  const sessions = createUserSessions()
  const server = await startLocalServer({
    address: { host: '127.0.0.1', port: 0 },
    pagesFolder,
    link,
    sessions,
    events: createLocalEvents(link),
    endpoints: [],
    identifyClient: async () => undefined,
    status: { version: '1.2.3', shell: 'browser', platform: 'linux' },
    log: silentLog,
  })
  onTestFinished(async () => {
    link.close()
    await server.close()
  })
  if (service) link.connect({ url: service.url, key: ownerKey, certificate: undefined })
  const origin = `http://127.0.0.1:${server.port}`
  const open = (token: string) =>
    fetch(`${origin}/local/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ token }),
    })
  const session = () => openPersonSession(origin, sessions.issueToken())
  return { origin, port: server.port, link, sessions, open, session }
}

async function startService(options: Parameters<typeof startFakeService>[0] = {}): Promise<FakeService> {
  const service = await startFakeService(options)
  onTestFinished(() => service.close())
  return service
}

/** Unlike fetch, sends any headers and target unchanged. */
function send(
  port: number,
  {
    at: address = '127.0.0.1',
    body: sentBody,
    ...options
  }: { at?: string; path: string; method?: string; headers?: Record<string, string>; body?: string },
) {
  return new Promise<{ status: number; headers: Record<string, unknown>; body: string }>((resolve, reject) => {
    const request = httpRequest({ host: address, port, agent: false, ...options }, (reply) => {
      let body = ''
      reply.setEncoding('utf8')
      reply.on('data', (text: string) => {
        body += text
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body }))
    })
    request.on('error', reject)
    request.end(sentBody)
  })
}

/** Returns the status and body with which a WebSocket handshake was refused. */
function refusal(socket: WebSocket): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    socket.on('error', () => {}) // the response has the status
    socket.on('open', () => reject(new Error('It was opened.')))
    socket.on('unexpected-response', (_request, reply) => {
      let body = ''
      reply.on('data', (bytes: Buffer) => {
        body += bytes.toString()
      })
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: JSON.parse(body) }))
    })
  })
}

function collectEvents(socket: WebSocket): LocalEvent[] {
  const received: LocalEvent[] = []
  socket.on('message', (data) => received.push(LocalEvent.parse(JSON.parse(String(data)))))
  return received
}

test('exchanges a token once for an HttpOnly same-site cookie and a key hidden from other ports', async () => {
  const { open, sessions, origin } = await startAgent()
  const token = sessions.issueToken()
  const first = await open(token)
  expect(first.status).toBe(200)
  expect(first.headers.get('set-cookie')).toMatch(/^steward_session_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
  const second = await open(token)
  expect(second.status).toBe(401)
  expect(await second.json()).toMatchObject({ code: 'auth/session', hint: expect.not.stringContaining('API key') })
  const opened: unknown = await first.json()
  expect(opened).toEqual({ success: true, window_key: expect.stringMatching(/^[\w-]{43}$/) })
  const session = {
    cookie: first.headers.get('set-cookie')?.split(';')[0] ?? '',
    [windowKeyHeader]: (opened as { window_key: string }).window_key,
  }
  expect(session.cookie).not.toContain(session[windowKeyHeader])
  const status = await fetch(`${origin}/local/status`, { headers: session })
  expect(await status.json()).toEqual({
    version: '1.2.3',
    shell: 'browser',
    platform: 'linux',
    connection: { name: 'This computer', kind: 'embedded', url: '', state: 'starting', detail: null },
  })
})

test.each([
  ['a wrong token', '{"token":"guess"}', 401, 'auth/session'],
  ['no token', '{}', 400, 'request/invalid'],
  ['what is not JSON', '{', 400, 'request/malformed'],
  ['too much', `{"token":"${'x'.repeat(5000)}"}`, 413, 'request/too-large'],
])('%s opens no session', async (_, body, status, code) => {
  const { origin } = await startAgent()
  const reply = await fetch(`${origin}/local/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  expect(reply.status).toBe(status)
  expect(await reply.json()).toMatchObject({ code, error: expect.any(String), hint: expect.any(String) })
  expect(reply.headers.get('set-cookie')).toBeNull()
})

test('two Stewards in one browser have separate sessions', async () => {
  const [first, second] = [await startAgent(), await startAgent()]
  const opened = await Promise.all([first.session(), second.session()])
  const cookies = new Map(opened.map(({ cookie }) => [cookie.split('=')[0], cookie] as const))
  const cookie = [...cookies.values()].join('; ') // as browsers store cookies: by name, for every port of a host
  for (const [index, { origin }] of [first, second].entries()) {
    expect((await fetch(`${origin}/local/status`, { headers: { ...opened[index], cookie } })).status).toBe(200)
    expect((await fetch(`${origin}/local/status`, { headers: { ...opened[1 - index], cookie } })).status).toBe(401)
  }
})

test('refuses user resources without a session', async () => {
  const { origin } = await startAgent()
  const status = await fetch(`${origin}/local/status`, {
    headers: { cookie: `steward_session_${new URL(origin).port}=guess`, [windowKeyHeader]: 'guess' },
  })
  expect(status.status).toBe(401)
  expect(await status.json()).toMatchObject({ code: 'auth/session' })
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/local/events`)
  expect(await refusal(socket)).toMatchObject({ status: 401, body: { code: 'auth/session' } })
})

test('refuses a session cookie or session key without the other', async () => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  const { cookie, [windowKeyHeader]: key } = await session()
  const stranger = await session()
  const halves = [
    { cookie },
    { [windowKeyHeader]: key },
    { cookie, [windowKeyHeader]: '' },
    { cookie, [windowKeyHeader]: `${key}x` },
    { cookie, [windowKeyHeader]: stranger[windowKeyHeader] },
  ]
  for (const headers of halves) {
    expect((await fetch(`${origin}/local/status`, { headers })).status).toBe(401)
    await fetch(`${origin}/v1/sandboxes`, { headers })
    expect(service.requests.at(-1)?.headers).not.toHaveProperty('authorization')
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/local/events`, { headers })
    expect(await refusal(socket)).toMatchObject({ status: 401, body: { code: 'auth/session' } })
  }
})

test('accepts the session key as a WebSocket protocol without forwarding it to the service', async () => {
  const service = await startService({ onSocket: (socket) => socket.send('hello') })
  const { origin, session } = await startAgent(service)
  const { cookie, [windowKeyHeader]: key } = await session()
  const open = (path: string, protocols: string[]) =>
    new WebSocket(`${origin.replace('http', 'ws')}${path}`, protocols, { headers: { cookie, origin } })
  const own = ['steward', `steward.window.${key}`]
  for (const path of ['/local/events', '/v1/sandboxes/a/pty/b/stream']) {
    const socket = open(path, own)
    await once(socket, 'message')
    expect(socket.protocol).toBe('steward')
    socket.terminate()
  }
  const { headers } = service.requests.at(-1) ?? {}
  expect(headers).toMatchObject({ authorization: `Bearer ${ownerKey}` })
  expect(headers).not.toHaveProperty('sec-websocket-protocol')
  expect(JSON.stringify(service.requests.map((each) => each.headers))).not.toContain(key)
  expect(await refusal(open('/local/events', ['steward', 'steward.window.guess']))).toMatchObject({ status: 401 })
  const stranger = open('/v1/sandboxes/a/pty/b/stream', ['steward', 'steward.window.guess'])
  await once(stranger, 'open')
  stranger.terminate()
  expect(service.requests.at(-1)?.headers).not.toHaveProperty('authorization')
})

test('a URL signed by the window works only for the browser and that address', async () => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  const { cookie, [windowKeyHeader]: key } = await session()
  const address = '/v1/sandboxes/a/files/download?path=%2Fhome%2Fa%20b'
  const signed = signWindowUrl(address, Date.now(), key)
  const asPerson = async (path: string, headers: Record<string, string>, method = 'GET') => {
    await fetch(`${origin}${path}`, { headers, method })
    const received = service.requests.at(-1)
    return {
      url: received?.url,
      method: received?.method,
      isPerson: received?.headers.authorization === `Bearer ${ownerKey}`,
    }
  }
  for (const method of ['GET', 'HEAD']) {
    expect(await asPerson(signed, { cookie }, method)).toEqual({ url: address, method, isPerson: true })
  }
  const status = await fetch(`${origin}${signWindowUrl('/local/status', Date.now(), key)}`, {
    headers: { cookie },
  })
  expect(status.status).toBe(200)

  const refused = { isPerson: false }
  expect(await asPerson(signed, {})).toMatchObject({ ...refused, url: address })
  expect(await asPerson(signed, { cookie }, 'POST')).toMatchObject(refused)
  expect(await asPerson(signed, { cookie }, 'DELETE')).toMatchObject(refused)
  expect(await asPerson(signed.replace('a%20b', 'other'), { cookie })).toMatchObject(refused)
  expect(await asPerson(signed.replace('?path', '?more=1&path'), { cookie })).toMatchObject(refused)
  expect(await asPerson(`${signed}&more=1`, { cookie })).toMatchObject(refused)
  expect(
    await asPerson(
      signed.replace(/=(\d+)\./, (_, until) => `=${Number(until) + 1}.`),
      { cookie },
    ),
  ).toMatchObject(refused)
  const longAgo = signWindowUrl(address, Date.now() - 13 * 3600_000, key)
  expect(await asPerson(longAgo, { cookie })).toMatchObject(refused)
  const { [windowKeyHeader]: otherKey } = await session()
  expect(await asPerson(signWindowUrl(address, Date.now(), otherKey), { cookie })).toMatchObject(refused)
})

test.each([
  ['a rebound name', { host: 'attacker.example' }, 'auth/host'],
  ['another port', { host: '127.0.0.1:1' }, 'auth/host'],
  ['a page of another site', { origin: 'https://attacker.example' }, 'auth/origin'],
  ['a page without an origin', { origin: 'null' }, 'auth/origin'],
  ['a page of another local server', { 'sec-fetch-site': 'same-site' }, 'auth/origin'],
  ['a request across sites', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 'auth/origin'],
])('%s is refused everywhere', async (_, headers, code) => {
  const service = await startService()
  const { port, session } = await startAgent(service)
  const fields = { host: `127.0.0.1:${port}`, ...(await session()), ...headers }
  for (const [method, path] of [
    ['GET', '/v1/sandboxes'],
    ['POST', '/v1/sandboxes'],
    ['GET', '/local/status'],
    ['GET', '/health'],
  ] as const) {
    const reply = await send(port, { path, method, headers: fields })
    expect([reply.status, JSON.parse(reply.body).code]).toEqual([403, code])
  }
  for (const path of ['/local/events', '/v1/sandboxes/x/pty/y/stream']) {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: fields })
    expect(await refusal(socket)).toMatchObject({ status: 403, body: { code } })
  }
  expect(service.requests.filter(({ url }) => url !== '/v1/events')).toEqual([])
})

test('serves every name of this address and links to the page from elsewhere', async () => {
  const { port } = await startAgent()
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
    expect((await send(port, { path: '/', headers: { host } })).status).toBe(200)
  }
  const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  expect((await send(port, { path: '/', headers: { host: `localhost:${port}`, ...followed } })).status).toBe(200)
})

test.skipIf(noIpv6Loopback)('serves only this Steward at ::1, under the same names', async () => {
  const { port, session } = await startAgent(await startService())
  const credentials = await session()
  const names = [`[::1]:${port}`, `localhost:${port}`]
  for (const host of names) {
    const reply = await send(port, { at: '::1', path: '/local/status', headers: { ...credentials, host } })
    expect([reply.status, JSON.parse(reply.body).version]).toEqual([200, '1.2.3'])
  }
  const prompt = await send(port, { at: '::1', path: '/prompt/x', headers: { host: `wallet.localhost:${port}` } })
  expect(prompt.status).toBe(404)
  const rebound = await send(port, { at: '::1', path: '/', headers: { host: 'attacker.example' } })
  expect([rebound.status, JSON.parse(rebound.body).code]).toEqual([403, 'auth/host'])
  const events = new WebSocket(`ws://[::1]:${port}/local/events`, { headers: credentials })
  const received = collectEvents(events)
  await until('the events to come', () => received.length > 0)
  events.terminate()
})

test('returns 404 for an unknown path, even to a browser', async () => {
  const service = await startService({
    answer: (request, response) => response.end(JSON.stringify({ at: request.url })),
  })
  const { origin } = await startAgent(service)
  for (const path of ['/nothing', '/nothing/here', '/nothing.html', '/.well-known/other', '/.well-known/x402/more']) {
    const reply = await fetch(`${origin}${path}`, { headers: { accept: 'text/html' } })
    expect([path, reply.status, (await reply.json()).code]).toEqual([path, 404, 'request/not-found'])
  }
  const local = await (await fetch(`${origin}/local/nothing`)).json()
  expect(local).toMatchObject({ code: 'request/not-found', hint: 'See /local/openapi.json for every path.' })
  for (const path of ['/.well-known/x402', '/v1/nothing', '/auth/nothing', '/pay/5/0x1', '/domains', '/openapi.json']) {
    expect(await (await fetch(`${origin}${path}`)).json()).toEqual({ at: path })
  }
})

test('serves pages with a strict policy and caches content-named files', async () => {
  const { origin, port } = await startAgent()
  const page = await fetch(`${origin}/`)
  expect(await page.text()).toContain('Steward')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const policy = page.headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'; script-src 'self';")
  expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${port};`)
  expect(policy).toContain(`; frame-src http://wallet.localhost:${port};`)
  expect(policy).toContain("; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
  const fixed = [
    'x-content-type-options',
    'referrer-policy',
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
  ]
  expect(fixed.map((name) => page.headers.get(name))).toEqual(['nosniff', 'no-referrer', 'same-origin', 'same-origin'])
  expect(page.headers.get('access-control-allow-origin')).toBeNull()
  expect(await (await fetch(`${origin}/terminal.html`)).text()).toContain('Terminal')
  const script = await fetch(`${origin}/assets/app-1a2b.js`)
  expect(script.headers.get('cache-control')).toContain('immutable')
  const again = await send(port, {
    path: '/assets/app-1a2b.js',
    headers: { host: `127.0.0.1:${port}`, 'if-none-match': script.headers.get('etag') ?? '' },
  })
  expect([again.status, again.body]).toEqual([304, ''])
})

test('allows frames only for the wallet and exposed ports of the connected service', async () => {
  const service = await startService()
  const { origin, port } = await startAgent(service)
  const policy = (await fetch(origin)).headers.get('content-security-policy')
  expect(policy).toContain(
    `; frame-src http://wallet.localhost:${port} http://*.localhost:${new URL(service.url).port};`,
  )
})

test.each([
  ['/../secret.html', 404],
  ['/..%2fsecret.html', 404],
  ['/assets/..%2f..%2fsecret.html', 404],
  ['/%00.html', 400],
  ['/%', 400],
  ['/missing.js', 404],
  ['/local/nothing', 404],
  ['/local/events', 426],
  ['http://attacker.example/', 400],
])('GET %s returns %i', async (path, status) => {
  const { port } = await startAgent()
  const reply = await send(port, { path, headers: { host: `127.0.0.1:${port}` } })
  expect(reply.status).toBe(status)
  expect(JSON.parse(reply.body)).toMatchObject({ code: expect.stringContaining('request/') })
})

test.each([
  ['POST', '/'],
  ['DELETE', '/local/status'],
  ['GET', '/local/session'],
])('%s %s is not allowed', async (method, path) => {
  const { port } = await startAgent()
  const reply = await send(port, { path, method, headers: { host: `127.0.0.1:${port}` } })
  expect([reply.status, JSON.parse(reply.body).code]).toEqual([405, 'request/method'])
})

test('the session acts with the owner key without exposing it or forwarding its cookie', async () => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  const reply = await fetch(`${origin}/v1/sandboxes?x=1`, {
    method: 'POST',
    headers: { ...(await session()), origin, 'idempotency-key': 'k1', 'content-type': 'application/json' },
    body: '{"name":"a"}',
  })
  expect(await reply.json()).toEqual({ ok: true })
  const received = service.requests.find(({ url }) => url === '/v1/sandboxes?x=1')
  expect(received?.headers).toMatchObject({
    authorization: `Bearer ${ownerKey}`,
    'idempotency-key': 'k1',
    'content-length': '12',
    host: new URL(service.url).host,
  })
  expect(received?.headers).not.toHaveProperty('cookie')
  expect(received?.headers).not.toHaveProperty(windowKeyHeader)
  expect(received?.headers).not.toHaveProperty('origin')
})

test.each([
  ['a Bearer key', { authorization: 'Bearer sk_mine' }],
  ['a raw key', { authorization: 'sk_mine' }],
  ['an x-api-key', { 'x-api-key': 'sk_mine' }],
  ['an empty key', { authorization: '' }],
])('%s of the caller is forwarded instead of the owner key', async (_, headers: Record<string, string>) => {
  const service = await startService()
  const { port, session } = await startAgent(service)
  for (const credentials of [{}, await session()]) {
    await send(port, { path: '/v1/sandboxes', headers: { host: `127.0.0.1:${port}`, ...headers, ...credentials } })
    const received = service.requests.at(-1)
    expect(received?.headers).toMatchObject(headers)
    expect(JSON.stringify(received?.headers)).not.toContain(ownerKey)
  }
})

test('lets the service decide about requests without a session or key', async () => {
  const service = await startService()
  const { origin } = await startAgent(service)
  for (const path of ['/v1/sandboxes', '/health', '/openapi.json']) {
    expect((await fetch(`${origin}${path}`)).status).toBe(200)
    expect(service.requests.at(-1)?.url).toBe(path)
    expect(service.requests.at(-1)?.headers.authorization).toBeUndefined()
  }
})

test('streams request and response bodies byte by byte', async () => {
  const service = await startService({
    answer: (request, response) => {
      response.writeHead(207, { 'content-type': 'application/octet-stream', 'upload-offset': '7' })
      request.pipe(response)
    },
  })
  const { origin, session } = await startAgent(service)
  const payload = randomBytes(24 * 1024 * 1024)
  const reply = await fetch(`${origin}/v1/files`, { method: 'PUT', headers: await session(), body: payload })
  const received = Buffer.from(await reply.arrayBuffer())
  expect(digest(received)).toBe(digest(payload))
  expect(reply.status).toBe(207)
  expect(reply.headers.get('upload-offset')).toBe('7')
})

const active = {
  'set-cookie': 'steward_session_1=planted; Path=/',
  'service-worker-allowed': '/',
  'clear-site-data': '"storage"',
  'access-control-allow-origin': '*',
  'content-security-policy': "script-src 'unsafe-inline'",
  'www-authenticate': 'Basic realm="Steward"',
  location: 'https://attacker.example/',
  link: '</v1/worker.js>; rel=preload',
  refresh: '0; url=https://attacker.example/',
  'x-made-up': 'tomorrow',
}

test.each([
  ['text/html', 'application/octet-stream', 'attachment'],
  ['application/xhtml+xml', 'application/octet-stream', 'attachment'],
  ['text/javascript', 'application/octet-stream', 'attachment'],
  ['application/pdf', 'application/octet-stream', 'attachment'],
  ['text/plain, text/html', 'application/octet-stream', 'attachment'],
  ['text/event-stream, text/html', 'application/octet-stream', 'attachment'],
  ['text/event-stream; charset=utf-8', 'text/event-stream; charset=utf-8', null],
  ['image/svg+xml', 'image/svg+xml', 'attachment'],
  ['image/png', 'image/png', null],
  ['application/json; charset=utf-8', 'application/json; charset=utf-8', null],
])('a service response of type %s cannot run as active content', async (contentType, type, disposition) => {
  const service = await startService({
    answer: (_, response) =>
      response.writeHead(401, { ...active, 'content-type': contentType }).end('<script>1</script>'),
  })
  const { origin, session } = await startAgent(service)
  for (const path of [
    '/v1/page',
    '/auth/page',
    '/health',
    '/openapi.json',
    '/pay/5/x',
    '/domains',
    '/domains/a',
    '/transactions',
  ]) {
    const { status, headers } = await fetch(`${origin}${path}`, { headers: await session() })
    expect(status).toBe(401)
    expect(headers.get('content-type')).toBe(type)
    expect(headers.get('content-disposition')).toBe(disposition)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    const policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
    expect(headers.get('content-security-policy')).toBe(policy)
    for (const name of Object.keys(active)) {
      if (name !== 'content-security-policy') expect([name, headers.get(name)]).toEqual([name, null])
    }
  }
})

test('forwards service events as they arrive and ends them when the caller disconnects', async () => {
  let sent: ServerResponse | undefined
  const service = await startService({
    answer: (_, response) => {
      sent = response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
    },
  })
  const { origin, session } = await startAgent(service)
  const leaving = new AbortController()
  const reply = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...(await session()), 'content-type': 'application/json', accept: 'text/event-stream' },
    body: '{}',
    signal: leaving.signal,
  })
  expect(reply.headers.get('content-type')).toBe('text/event-stream')
  expect(reply.headers.get('content-disposition')).toBeNull()
  const reader = reply.body?.getReader()
  const next = async () => Buffer.from((await reader?.read())?.value ?? []).toString()
  expect(await next()).toBe('data: first\n\n')
  sent?.write('data: second\n\n')
  expect(await next()).toBe('data: second\n\n')
  const upstreamEnded = sent && once(sent, 'close')
  leaving.abort()
  await upstreamEnded
})

test.each(['x-payment', 'payment-signature'])('%s is forwarded to the service', async (name) => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  await fetch(`${origin}/v1/domains/register`, {
    method: 'POST',
    headers: { ...(await session()), [name]: 'c2lnbmVk' },
  })
  expect(service.requests.at(-1)?.headers).toMatchObject({ [name]: 'c2lnbmVk' })
})

test.each(['payment-required', 'x-payment-required', 'payment-response', 'x-payment-response'])(
  '%s is returned from the service',
  async (name) => {
    const service = await startService({
      answer: (_, response) =>
        response.writeHead(402, { 'content-type': 'application/json', [name]: 'b2ZmZXI=' }).end('{"x402Version":1}'),
    })
    const { origin, session } = await startAgent(service)
    const reply = await fetch(`${origin}/v1/domains/register`, { method: 'POST', headers: await session() })
    expect([reply.status, reply.headers.get(name)]).toEqual([402, 'b2ZmZXI='])
    expect(await reply.json()).toEqual({ x402Version: 1 })
  },
)

test('forwards only the first of two keys and drops hop-by-hop headers', async () => {
  const service = await startService()
  const { port } = await startAgent(service)
  const lines = [
    'GET /v1/sandboxes HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Authorization: Bearer one',
    'Authorization: Bearer other',
    'Connection: close, X-Private-Hop',
    'X-Private-Hop: gone',
    'TE: trailers',
    'Proxy-Authorization: Basic b3du',
  ]
  expect(await rawExchange(port, `${lines.join('\r\n')}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  const { headers, rawHeaders } = service.requests.at(-1) ?? {}
  expect(headers).toMatchObject({ authorization: 'Bearer one' })
  expect(String(rawHeaders)).not.toContain('other')
  for (const name of ['x-private-hop', 'te', 'proxy-authorization']) expect(headers).not.toHaveProperty(name)
})

test.each([
  ['a status that HTTP does not have', 'HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: odd\r\n\r\n'],
  ['what is no HTTP', 'nonsense\r\n\r\n'],
])('a service that responds with %s is reported as unavailable', async (_, head) => {
  const service = createServer((socket) => {
    socket.on('error', () => {}) // the connection is cut off
    socket.once('data', () => socket.write(head))
  }).listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => void service.close())
  await once(service, 'listening')
  const address = service.address() as AddressInfo // listens on TCP
  const { origin, link, session } = await startAgent()
  link.connect({ url: `http://127.0.0.1:${address.port}`, key: ownerKey, certificate: undefined })
  const reply = await fetch(`${origin}/v1/sandboxes`, { headers: await session() })
  expect([reply.status, (await reply.json()).code]).toEqual([503, 'service/unavailable'])
})

test('redirects pages of the service to its own address', async () => {
  const service = await startService()
  const { origin, link } = await startAgent()
  expect((await fetch(`${origin}/docs`, { redirect: 'manual' })).status).toBe(503)
  link.connect({ url: service.url, key: ownerKey, certificate: undefined })
  for (const path of ['/docs', '/docs/', '/docs/js/scalar.js', '/docs//attacker.example']) {
    const { status, headers } = await fetch(`${origin}${path}`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([307, `${service.url}${path}`])
  }
  expect(service.requests.filter(({ url }) => url?.startsWith('/docs'))).toEqual([])
})

test.each([
  ['refuses', 'HTTP/1.1 401 No\r\n', [401, 'close']],
  [
    'accepts',
    'HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n',
    [101, 'Upgrade'],
  ],
])('a service that %s a WebSocket sends no active headers to the browser', async (_, head, [status, connection]) => {
  const service = createServer((socket) => {
    socket.on('error', () => {}) // the connection is cut off
    const lines = Object.entries(active).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.once('data', () =>
      socket.end(`${head}${lines.join('')}Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n`),
    )
  }).listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(() => void service.close())
  await once(service, 'listening')
  const address = service.address() as AddressInfo // listens on TCP
  const { port, link, session } = await startAgent()
  link.connect({ url: `http://127.0.0.1:${address.port}`, key: ownerKey, certificate: undefined })
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path: '/v1/sandboxes/a/pty/b/stream',
    headers: { ...(await session()), connection: 'Upgrade', upgrade: 'websocket' },
  }).end()
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    request.once('upgrade', resolve)
    request.once('error', reject)
  })
  expect([answer.statusCode, answer.headers.connection]).toEqual([status, connection])
  expect(answer.headers).not.toHaveProperty('transfer-encoding')
  const policy = answer.headers['content-security-policy'] ?? 'sandbox'
  expect(policy).toContain('sandbox')
  for (const name of Object.keys(active)) {
    if (name !== 'content-security-policy') expect(answer.headers).not.toHaveProperty(name)
  }
  request.destroy()
})

test('a body that contains another request remains one body', async () => {
  const bodies: string[] = []
  const service = await startService({
    answer: async (request, response) => {
      let body = ''
      for await (const chunk of request) body += String(chunk)
      bodies.push(`${request.method} ${request.url} ${body}`)
      response.end('{}')
    },
  })
  const { port, session } = await startAgent(service)
  const fields = { host: `127.0.0.1:${port}`, ...(await session()) }
  const headers = { ...fields, 'transfer-encoding': 'chunked' }
  const hidden = 'GET /v1/hidden HTTP/1.1\r\nhost: x\r\n\r\n'
  await send(port, { path: '/v1/a', method: 'DELETE', headers, body: hidden })
  await send(port, { path: '/v1/b', method: 'POST', headers: fields })
  expect(bodies).toEqual([`DELETE /v1/a ${hidden}`, 'POST /v1/b '])
})

test('ends the request to the service when the caller disconnects', async () => {
  const service = await startService({ answer: () => {} })
  const { origin, session } = await startAgent(service)
  const leaving = new AbortController()
  const reply = fetch(`${origin}/v1/slow`, { headers: await session(), signal: leaving.signal })
  const received = await until('the request arrives', () => service.requests.find(({ url }) => url === '/v1/slow'))
  const closed = once(received.socket, 'close')
  leaving.abort()
  await expect(reply).rejects.toThrow()
  await closed
})

test('returns a standard error while the service is unavailable', async () => {
  const service = await startService()
  const { origin, session, link } = await startAgent()
  const credentials = await session()
  const before = await fetch(`${origin}/v1/sandboxes`, { headers: credentials })
  expect([before.status, before.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await before.json()).toMatchObject({ code: 'service/unavailable' })
  link.connect({ url: service.url, key: ownerKey, certificate: undefined })
  expect((await fetch(`${origin}/v1/sandboxes`, { headers: credentials })).status).toBe(200)
  await service.close()
  const after = await fetch(`${origin}/v1/sandboxes`, { headers: credentials })
  expect(await after.json()).toMatchObject({ code: 'service/unavailable' })
  const stream = new WebSocket(`${origin.replace('http', 'ws')}/v1/sandboxes/a/pty/b/stream`, { headers: credentials })
  const [code] = await once(stream, 'close')
  expect(code).toBe(4503)
})

test('a WebSocket of the service preserves its frames, protocol and close codes', async () => {
  const service = await startService({
    onSocket: (socket) => {
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
      socket.send('hello')
    },
  })
  const { origin, session } = await startAgent(service)
  const path = '/v1/sandboxes/a/pty/b/stream?scrollback=5'
  const socket = new WebSocket(`${origin.replace('http', 'ws')}${path}`, ['steward.token.x'], {
    headers: { ...(await session()), origin },
  })
  const [greeting] = await once(socket, 'message')
  expect(String(greeting)).toBe('hello')
  expect(socket.protocol).toBe('steward.token.x')
  const payload = randomBytes(4 * 1024 * 1024)
  socket.send(payload)
  const [echo, isBinary] = await once(socket, 'message')
  expect([isBinary, digest(echo)]).toEqual([true, digest(payload)])
  expect(service.requests.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${ownerKey}` })
  expect(service.requests.at(-1)?.headers).not.toHaveProperty('cookie')
  const there = service.sockets.get(path)
  if (!there) throw new Error('The service has no such WebSocket.')
  const closedHere = once(socket, 'close')
  there.close(4008, 'too slow')
  const [code, reason] = await closedHere
  expect([code, String(reason)]).toEqual([4008, 'too slow'])
})

test('forwards the close code of the caller to the service', async () => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/x/stream`, { headers: await session() })
  await once(socket, 'open')
  const there = await until('the other end', () => service.sockets.get('/v1/x/stream'))
  const closed = once(there, 'close')
  socket.close(4001, 'done')
  const [code, reason] = await closed
  expect([code, String(reason)]).toEqual([4001, 'done'])
})

test('forwards the refusal of a handshake by the service', async () => {
  const service = await startService()
  const { origin, session } = await startAgent(service)
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/v1/refused`, { headers: await session() })
  expect(await refusal(socket)).toEqual({ status: 404, body: {} })
})

test('pages receive every event and a reload event after the service was unavailable', async () => {
  const first = await startService()
  const { origin, session, link } = await startAgent(first)
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/local/events`, { headers: await session() })
  const received = collectEvents(socket)
  await until('ready', () => received.some(({ type }) => type === 'ready'))
  const removed = { type: 'sandbox.removed', id: '0'.repeat(32) }
  first.sockets.get('/v1/events')?.send('not an event')
  first.sockets.get('/v1/events')?.send(JSON.stringify(removed))
  await until('the event', () => received.some(({ type }) => type === 'sandbox.removed'))
  expect(received.at(-1)).toEqual(removed)

  await first.close()
  await until('the loss', () => received.at(-1)?.type === 'connection.changed')
  expect(received.at(-1)).toMatchObject({ connection: { state: 'unreachable', detail: expect.any(String) } })
  const readyBefore = received.filter(({ type }) => type === 'ready').length
  const second = await startService({ port: first.port })
  await until('ready again', () => received.filter(({ type }) => type === 'ready').length > readyBefore)
  expect(received.filter(({ type }) => type === 'connection.changed').at(-1)).toMatchObject({
    connection: { state: 'connected', url: second.url, detail: null },
  })
  link.disconnect('The service was killed by SIGKILL and is restarting.')
  await until('the reason', () => JSON.stringify(received.at(-1)).includes('SIGKILL'))
  socket.close()
  await once(socket, 'close')
})

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
