import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../support/assertions/eventually.ts'
import { findMessage, openSocket } from '../support/clients/socketClient.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Ports of real sandboxes that run a real server, through the real service. */
let service: TestService
let sandboxId: string
let sandbox: string
let publicUrl: string

const script = readFileSync(new URL('../support/processes/portServer.py', import.meta.url), 'utf8')

beforeAll(async () => {
  service = await runningService()
  sandboxId = await createSandbox('ports')
  sandbox = `/v1/sandboxes/${sandboxId}`
  publicUrl = await exposePort(sandbox, { port: 8000 })
  await serve(sandboxId, 8000, 'first')
})
afterAll(() => service?.close())

async function createSandbox(name: string): Promise<string> {
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name } })
  expect(status, text).toBe(201)
  return json.id
}

async function exposePort(path: string, body: object): Promise<string> {
  const { status, json, text } = await service.send(`${path}/ports/expose`, { body })
  expect(status, text).toBe(200)
  return json.url
}

async function serve(id: string, port: number, name: string): Promise<void> {
  const path = `/v1/sandboxes/${id}`
  await service.send(`${path}/files`, { body: { path: '/root/server.py', content: script } })
  await service.send(`${path}/exec`, {
    body: { command: `setsid python3 /root/server.py ${port} ${name} </dev/null >/tmp/server.log 2>&1 &` },
  })
  const key = service.key
  const url = getAddress(id, port)
  await until('the server to answer', async () => (await get(url, { authorization: key })).status === 200)
}

const getAddress = (id: string, port: number) => `http://${port}-${id}.localhost:${new URL(service.url).port}`

type Reply = { status: number; headers: IncomingHttpHeaders; body: Buffer }

/** Sends a request as a browser does: the name resolves to this computer and is sent as the Host header. */
function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<Reply> {
  const { hostname, port, host, pathname } = new URL(url)
  expect(hostname.endsWith('.localhost') || hostname.endsWith('.example')).toBe(true)
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname: '127.0.0.1',
      port: port === '' ? new URL(service.url).port : port,
      path: pathname,
      method: options.method ?? 'GET',
      headers: { host, ...options.headers },
    })
    request.on('error', reject)
    request.once('response', (answer) => {
      buffer(answer).then((body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }), reject)
    })
    request.end(options.body)
  })
}
const get = (url: string, headers: Record<string, string> = {}) => ask(url, { headers })
const parseBody = ({ body }: Reply) => JSON.parse(body.toString('utf8'))

describe('exposing a port', () => {
  test('returns the same address each time, lists the port and emits an event', async () => {
    const events = await openSocket(`${service.url}/v1/events`, { headers: { authorization: service.key } })
    await findMessage(events, { type: 'ready' })
    const id = await createSandbox('listed')
    const path = `/v1/sandboxes/${id}`
    const url = getAddress(id, 3000)
    const { host, port } = new URL(url)
    const connect = { host: '127.0.0.1', port: Number(port), host_header: host }
    const answer = { port: 3000, visibility: 'public', public_url: url, url, requires_auth: false, connect }
    expect((await service.send(`${path}/ports/expose`, { body: { port: 3000 } })).json).toEqual(answer)
    expect((await service.send(`${path}/ports`, { body: { port: 3000 } })).json).toEqual(answer)
    expect((await service.send(`${path}/ports`)).json).toEqual({ ports: [answer] })
    expect((await service.send(path)).json.forwarded_ports).toEqual([{ port: 3000, url }])
    const changes = () =>
      events.messages
        .map(({ sandbox }) => sandbox as { id: string; forwarded_ports: unknown[] } | undefined)
        .filter((it) => it?.id === id)
        .map((it) => it?.forwarded_ports.length)
    await until('the change', () => changes().at(-1) === 1)

    const otherPort = await service.send(`${path}/ports`, { body: { port: 3000, visibility: 'private' } })
    expect(otherPort.json).toEqual({ ...answer, visibility: 'private', requires_auth: true })
    expect((await service.send(`${path}/ports`, { body: { port: 3000 } })).json).toEqual(otherPort.json)

    const removed = await service.send(`${path}/ports/3000`, { method: 'DELETE' })
    expect(removed.json).toMatchObject({ success: true, message: expect.stringContaining('3000') })
    await until('the other change', () => changes().at(-1) === 0)
    const again = await service.send(`${path}/ports/3000`, { method: 'DELETE' })
    expect(again.status).toBe(404)
    expect(again.json.code).toBe('port/not-found')
    events.close()
  })

  test.each([0, 70_000, 80.5, '80', -1])('rejects port %j and names the field', async (port) => {
    const { status, json } = await service.send(`${sandbox}/ports/expose`, { body: { port } })
    expect(status).toBe(400)
    expect(json.error).toMatch(/^`port` must be a (whole )?number/)
  })

  test('rejects invalid ports, visibilities and subdomains and other accounts', async () => {
    const removal = await service.send(`${sandbox}/ports/70000`, { method: 'DELETE' })
    expect(removal.status).toBe(400)
    expect(removal.json.error).toContain('`port`')
    expect((await service.send(`${sandbox}/ports`, { body: { port: 1, visibility: 'open' } })).status).toBe(400)
    expect((await service.send(`${sandbox}/ports`, { body: { port: 1, subdomain: '8-bad' } })).status).toBe(400)
    const { key } = secondAccount(service.dataDir)
    expect((await service.send(`${sandbox}/ports`, { key, body: { port: 1 } })).status).toBe(404)
  })

  test('assigns a subdomain to only one port', async () => {
    const named = await exposePort(sandbox, { port: 8000, subdomain: 'my-app' })
    expect(named).toBe(`http://my-app.localhost:${new URL(service.url).port}`)
    expect(parseBody(await get(`${named}/x`))).toMatchObject({ name: 'first', path: '/x' })
    expect((await get(publicUrl)).status).toBe(200)
    const response = await service.send(`${sandbox}/ports`, { body: { port: 9, subdomain: 'my-app' } })
    expect(response.status).toBe(409)
    expect(response.json.code).toBe('port/taken')
  })
})

describe('over HTTP', () => {
  test('the server receives the request and client address but no Steward key', async () => {
    const reply = await get(`${publicUrl}/some/path`, {
      authorization: `Bearer ${service.key}`,
      cookie: 'own=1; steward_port=spt_x',
      connection: 'close, x-private-hop',
      'x-private-hop': 'gone',
      'x-forwarded-for': '1.2.3.4',
    })
    const { path, headers } = parseBody(reply)
    expect(path).toBe('/some/path')
    expect(headers).toMatchObject({
      host: new URL(publicUrl).host,
      cookie: 'own=1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': new URL(publicUrl).host,
    })
    expect(Object.keys(headers)).not.toContain('authorization')
    expect(Object.keys(headers)).not.toContain('x-private-hop')
    expect(JSON.stringify(headers)).not.toContain(service.key)
    const ownResponse = await get(publicUrl, { authorization: 'Basic b3du' })
    expect(parseBody(ownResponse).headers.authorization).toBe('Basic b3du')
  })

  test.each(['content-length', 'transfer-encoding'])(
    'large bodies pass through completely in both directions (%s)',
    async (framing) => {
      const body = randomBytes(12 * 1024 * 1024)
      const headers = { [framing]: framing === 'content-length' ? String(body.length) : 'chunked' }
      const reply = await ask(`${publicUrl}/echo`, { method: 'POST', headers, body })
      expect(reply.headers['x-hash']).toBe(createHash('sha256').update(body).digest('hex'))
      expect(reply.body.equals(body)).toBe(true)
    },
  )

  test('concurrent requests receive their own responses', async () => {
    const paths = Array.from({ length: 24 }, (_, index) => `/${index}`)
    const replies = await Promise.all(paths.map((path) => get(`${publicUrl}${path}`)))
    expect(replies.map((reply) => parseBody(reply).path)).toEqual(paths)
  })

  test('cookies remain scoped to their address', async () => {
    const { headers } = await get(`${publicUrl}/cookies`)
    expect(headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2'])
  })

  test('responses without a cache lifetime are revalidated each time', async () => {
    expect((await get(publicUrl)).headers['cache-control']).toBe('no-cache')
    expect((await get(`${publicUrl}/kept`)).headers['cache-control']).toBe('max-age=60')
  })

  test('distinguishes an aborted response from a port without a server', async () => {
    const broken = await get(`${publicUrl}/quit`)
    expect(broken.status).toBe(502)
    expect(parseBody(broken).code).toBe('port/failed')
    const url = await exposePort(sandbox, { port: 8009 })
    const silent = await get(url)
    expect(silent.status).toBe(502)
    expect(parseBody(silent)).toMatchObject({
      code: 'port/no-server',
      error: 'Nothing listens on port 8009 in the sandbox.',
    })
    const page = await get(url, { accept: 'text/html,*/*' })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.body.toString()).toContain('Nothing listens on port 8009')
  })

  test('does not serve the API at a port address, exposed or not', async () => {
    for (const url of [publicUrl, getAddress(sandboxId, 4242), 'http://unknown.localhost']) {
      const reply = await get(`${url}/v1/sandboxes`, { authorization: `Bearer ${service.key}` })
      expect(parseBody(reply)).not.toHaveProperty('sandboxes')
      expect([200, 404]).toContain(reply.status)
    }
    const refused = openSocket(`${service.url}/v1/events`, {
      headers: { host: 'unknown.localhost', authorization: service.key },
    })
    await expect(refused).rejects.toThrow('404')
  })

  test('a client disconnect closes the response of the server', async () => {
    const request = httpRequest({
      hostname: '127.0.0.1',
      port: new URL(service.url).port,
      path: '/stream',
      headers: { host: new URL(publicUrl).host },
    })
    const answer = await new Promise<NodeJS.ReadableStream>((resolve) => request.once('response', resolve).end())
    const over = new Promise((resolve) => answer.once('close', resolve))
    request.on('error', () => {})
    request.destroy()
    await over
    expect((await get(publicUrl)).status).toBe(200)
  })
})

describe('over a WebSocket', () => {
  const connect = (url: string, headers: Record<string, string> = {}): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://127.0.0.1:${new URL(service.url).port}/socket`, {
      headers: { host: new URL(url).host, ...headers },
      perMessageDeflate: false,
    })
    return new Promise((resolve, reject) => {
      socket.once('open', () => resolve(socket))
      socket.once('error', reject)
    })
  }
  const echo = (socket: WebSocket, data: Buffer): Promise<Buffer> => {
    const answered = new Promise<Buffer>((resolve) => socket.once('message', (bytes: Buffer) => resolve(bytes)))
    socket.send(data)
    return answered
  }

  test('messages pass through in both directions, small and large', async () => {
    const socket = await connect(publicUrl)
    for (const size of [5, 1000, 70_000, 2_000_000]) {
      const payload = randomBytes(size)
      expect((await echo(socket, payload)).equals(payload)).toBe(true)
    }
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    socket.close(1000)
    expect(await closed).toBe(1000)
  })

  test('a private port requires its token and a port without a server returns 502', async () => {
    const url = await exposePort(sandbox, { port: 8000, visibility: 'private' })
    try {
      await expect(connect(url)).rejects.toThrow('401')
      const socket = await connect(url, { authorization: `Bearer ${service.key}` })
      expect((await echo(socket, Buffer.from('in'))).toString()).toBe('in')
      socket.terminate()
    } finally {
      await exposePort(sandbox, { port: 8000, visibility: 'public' })
    }
    await expect(connect(await exposePort(sandbox, { port: 8009 }))).rejects.toThrow('502')
  })
})

test('a private port accepts only a key of its account or its own token', async () => {
  const id = await createSandbox('private')
  const path = `/v1/sandboxes/${id}`
  const url = await exposePort(path, { port: 8000, visibility: 'private' })
  await serve(id, 8000, 'private')
  const created = await service.send(`${path}/ports/8000/token`, { method: 'POST' })
  expect(created.json).toMatchObject({
    sandbox_id: id,
    port: 8000,
    open_url: expect.stringContaining(`${url}/.steward/`),
  })
  const token: string = created.json.token

  const refused = await get(url)
  expect(refused.status).toBe(401)
  expect(parseBody(refused).code).toBe('auth/required')
  const foreign = secondAccount(service.dataDir).key
  const otherToken = (await service.send(`${sandbox}/ports/8000/token`, { method: 'POST' })).json.token
  for (const wrong of [foreign, otherToken, 'nonsense']) {
    expect((await get(url, { authorization: `Bearer ${wrong}` })).status).toBe(401)
  }
  const opened = [
    await get(url, { authorization: `Bearer ${service.key}` }),
    await get(url, { 'x-api-key': service.key }),
    await get(url, { authorization: `Bearer ${token}` }),
    await get(url, { 'x-steward-port-token': token, authorization: 'Basic b3du' }),
    await get(url, { cookie: `steward_port=${token}` }),
  ]
  for (const reply of opened) {
    expect(reply.status).toBe(200)
    for (const secret of [service.key, token]) expect(reply.body.toString()).not.toContain(secret)
  }
  expect(parseBody(opened[3] as Reply).headers.authorization).toBe('Basic b3du')

  const page = await get(`${url}/.steward/open`)
  expect(page.headers['content-type']).toContain('text/html')
  const cookie = await ask(`${url}/.steward/open`, { method: 'POST', headers: { 'x-steward-open': token } })
  expect(cookie.headers['set-cookie']).toEqual([`steward_port=${token}; Path=/; HttpOnly; SameSite=Lax`])

  await service.send(`${path}/ports/8000`, { method: 'DELETE' })
  await exposePort(path, { port: 8000, visibility: 'private' })
  expect((await get(url, { authorization: `Bearer ${token}` })).status).toBe(401)
})

test('two sandboxes can expose the same port separately', async () => {
  const id = await createSandbox('second')
  const url = await exposePort(`/v1/sandboxes/${id}`, { port: 8000 })
  await serve(id, 8000, 'second')
  expect(parseBody(await get(url)).name).toBe('second')
  expect(parseBody(await get(publicUrl)).name).toBe('first')
})

test('remains exposed while the sandbox or service is stopped and ends with the sandbox', async () => {
  const id = await createSandbox('stopping')
  const path = `/v1/sandboxes/${id}`
  await exposePort(path, { port: 8000 })
  await serve(id, 8000, 'before')
  await service.send(`${path}/stop`, { method: 'POST' })
  const stopped = await get(getAddress(id, 8000))
  expect(stopped.status).toBe(503)
  expect(parseBody(stopped).code).toBe('port/stopped')
  expect((await get(getAddress(id, 8000), { accept: 'text/html' })).body.toString()).toContain(
    'This sandbox is stopped',
  )

  await service.restart()
  publicUrl = getAddress(sandboxId, 8000)
  expect((await service.send(`${path}/ports`)).json.ports).toMatchObject([{ port: 8000, url: getAddress(id, 8000) }])
  await service.send(`${path}/start`, { method: 'POST' })
  expect((await get(getAddress(id, 8000))).status).toBe(502)
  await serve(id, 8000, 'after')
  expect(parseBody(await get(getAddress(id, 8000))).name).toBe('after')

  await service.send(path, { method: 'DELETE' })
  expect((await get(getAddress(id, 8000))).status).toBe(404)
})

test('port addresses are subdomains of a separate sandbox host', async () => {
  const hosted = await runningService({
    sandboxHost: 'boxes.example',
    host: 'none',
    publicUrl: 'https://boxes.example',
  })
  try {
    const { port } = new URL(hosted.url)
    const reply = await new Promise<number>((resolve, reject) => {
      const headers = { host: `80-${'a'.repeat(32)}.boxes.example` }
      httpRequest({ hostname: '127.0.0.1', port, path: '/health', headers }, (incomingMessage) =>
        resolve(incomingMessage.resume().statusCode ?? 0),
      )
        .on('error', reject)
        .end()
    })
    expect(reply).toBe(404)
    expect((await hosted.send('/health', { headers: { host: 'boxes.example' } })).status).toBe(200)
  } finally {
    await hosted.close()
  }
})

describe('a custom domain', () => {
  const add = (body: object, path = sandbox) => service.send(`${path}/domains`, { body })
  const getPort = () => new URL(service.url).port

  test('routes to an exposed port under its rules until it is removed', async () => {
    const added = await add({ domain: 'App.Example.', port: 8000 })
    expect(added.status, added.text).toBe(201)
    const url = `http://app.example:${getPort()}`
    expect(added.json).toMatchObject({ success: true, domain: 'app.example', port: 8000, url, dns_target: null })
    const { success, ...listed } = added.json
    expect(success).toBe(true)
    expect((await service.send(`${sandbox}/domains`)).json).toEqual({ domains: [listed] })
    expect(parseBody(await get(`${url}/`)).name).toBe('first')
    expect((await get(`${url}/v1/sandboxes`, { authorization: service.key })).headers['content-type']).not.toBe(
      'application/json; charset=utf-8',
    )

    await service.send(`${sandbox}/ports/expose`, { body: { port: 8000, visibility: 'private' } })
    expect((await get(`${url}/`)).status).toBe(401)
    expect((await get(`${url}/`, { authorization: service.key })).status).toBe(200)
    await service.send(`${sandbox}/ports/expose`, { body: { port: 8000, visibility: 'public' } })

    await service.restart()
    const address = `http://app.example:${getPort()}/`
    expect(parseBody(await get(address)).name).toBe('first')
    const removed = await service.send(`${sandbox}/domains/APP.example`, { method: 'DELETE' })
    expect(removed.json).toMatchObject({ success: true, domain: 'app.example' })
    expect((await get(address)).status).toBe(403)
    expect((await service.send(`${sandbox}/domains/app.example`, { method: 'DELETE' })).json.code).toBe(
      'sandbox-domain/not-found',
    )
  })

  test.each([
    [{ domain: 'localhost', port: 8000 }, 400, '`domain` must be a host name such as app.example.com'],
    [{ domain: '127.0.0.1', port: 8000 }, 400, '`domain` must be a host name such as app.example.com'],
    [{ domain: 'bücher.example', port: 8000 }, 400, '`domain` must be a host name such as app.example.com'],
    [{ domain: 'app.example:80', port: 8000 }, 400, '`domain` must be a host name such as app.example.com'],
    [{ domain: 'x.localhost', port: 8000 }, 409, '`x.localhost` belongs to this service.'],
    [{ domain: 'app.example', port: 70_000 }, 400, '`port` must be a whole number from 1 to 65535'],
    [{ domain: 'app.example', port: 8765 }, 404, 'Port 8765 of this sandbox is not exposed.'],
    [{ port: 8000 }, 400, '`domain`'],
  ])('%j is refused', async (body, status, error) => {
    const answer = await add(body)
    expect(answer.status).toBe(status)
    expect(answer.json.error).toContain(error)
  })

  test('without a port routes to the first exposed one, even if exposed later', async () => {
    const id = await createSandbox('later')
    const path = `/v1/sandboxes/${id}`
    const url = `http://later.example:${getPort()}/`
    const added = await add({ domain: 'later.example' }, path)
    expect(added.status, added.text).toBe(201)
    expect(added.json).toMatchObject({ domain: 'later.example', port: null })
    expect((await get(url)).status).toBe(404)
    const leadsTo = async () => (await service.send(`${path}/domains`)).json.domains[0].port

    await exposePort(path, { port: 9000 })
    await exposePort(path, { port: 8000 })
    expect(await leadsTo()).toBe(9000)
    expect((await get(url)).status).toBe(502) // no listener yet
    await service.send(`${path}/ports/9000`, { method: 'DELETE' })
    expect(await leadsTo()).toBe(8000)
    expect((await add({ domain: 'later.example', port: 8000 }, path)).json.port).toBe(8000)
    await service.send(`${path}/ports/8000`, { method: 'DELETE' })
    await exposePort(path, { port: 9000 })
    expect(await leadsTo()).toBe(8000) // the port was named explicitly
    await service.send(path, { method: 'DELETE' })
  })

  test('belongs to one sandbox and is removed with it', async () => {
    const otherPath = `/v1/sandboxes/${await createSandbox('other')}`
    expect((await add({ domain: 'one.example' }, otherPath)).status).toBe(201)
    expect((await add({ domain: 'one.example', port: 8000 })).json).toMatchObject({
      code: 'sandbox-domain/taken',
      error: '`one.example` points to another sandbox.',
    })
    expect((await service.send(`${sandbox}/domains/one.example`, { method: 'DELETE' })).status).toBe(404)
    await service.send(otherPath, { method: 'DELETE' })
    expect((await add({ domain: 'one.example', port: 8000 })).status).toBe(201)
  })
})
