import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Visitors of a port that disconnect, servers that send malformed responses, and the data sent to them. */
let service: TestService
let host: string
let sandbox: string

const script = readFileSync(new URL('../support/processes/misbehavingPortServer.py', import.meta.url), 'utf8')

beforeAll(async () => {
  service = await runningService()
  const { json } = await service.send('/v1/sandboxes', { body: { name: 'rude' } })
  sandbox = `/v1/sandboxes/${json.id}`
  await service.send(`${sandbox}/files`, { body: { path: '/root/rude.py', content: script } })
  await service.send(`${sandbox}/exec`, {
    body: { command: 'setsid python3 /root/rude.py 3000 </dev/null >/dev/null 2>&1 &' },
  })
  await service.send(`${sandbox}/ports/expose`, { body: { port: 3000 } })
  host = `3000-${json.id}.localhost`
  await until('the server to answer', async () => (await ask('/')).status === 200)
})
afterAll(() => service?.close())

type Raw = { status: number; body: string }

const openSocket = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })

const createRequest = (path: string, headers: readonly string[], hostHeader = host): string =>
  [`GET ${path} HTTP/1.1`, `Host: ${hostHeader}`, ...headers, '', ''].join('\r\n')

/** Sends every header unchanged, in this order and as often as it is listed. */
async function ask(path: string, headers: readonly string[] = [], hostHeader = host): Promise<Raw> {
  const socket = await openSocket()
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1')
  })
  socket.write(
    createRequest(
      path,
      headers.some((it) => /^connection:/i.test(it)) ? headers : [...headers, 'Connection: close'],
      hostHeader,
    ),
  )
  const readLength = (): number => Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN)
  try {
    return await until(`an answer to ${path}`, () => {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0 || !(socket.closed || text.length - end - 4 >= readLength())) return undefined
      return { status: Number(text.slice(9, 12)), body: text.slice(end + 4) }
    })
  } finally {
    socket.destroy()
  }
}

describe('a visitor of a port that disconnects', () => {
  test.each([
    ['before the answer', '/never', ''],
    ['after a server has switched protocols unasked', '/switches', ''],
    ['in the middle of the answer', '/slow', ''],
    ['before a WebSocket is agreed', '/never', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'],
  ])('%s closes the connection to the server', async (_, path, headers) => {
    const visitors = await Promise.all(Array.from({ length: 40 }, openSocket))
    const lines = headers === '' ? [] : headers.trim().split('\r\n')
    for (const visitor of visitors) visitor.write(createRequest(path, lines))
    const count = async (): Promise<number> => Number((await ask('/count')).body)
    if (path !== '/switches') await until('all of them to be there', async () => (await count()) === 40)
    for (const visitor of visitors) visitor.destroy()
    await until('all of them to be gone', async () => (await count()) === 0)
    expect((await ask('/')).status).toBe(200)
  })
})

describe('a server with an unrequested protocol switch or an invalid status', () => {
  test.each(['/switches', '/status/099', '/status/101', '/status/000'])('is reported with 502 at %s', async (path) => {
    const { status, body } = await ask(path)
    expect([status, JSON.parse(body).code]).toEqual([502, 'port/failed'])
  })

  test.each(['/switches', '/status/099', '/status/000'])(
    'is reported with 502 at %s to a WebSocket client',
    async (path) => {
      const { status } = await ask(path, ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'])
      expect(status).toBe(502)
    },
  )
})

describe('an upgrade to a protocol other than WebSocket', () => {
  test.each(['Upgrade: h2c', 'Upgrade: TLS/1.0', 'Upgrade: h2c, websocket2', 'Upgrade: '])(
    'is ignored: %s',
    async (line) => {
      const upgrade = [line, 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']
      const key = `X-API-Key: ${service.key}`
      const ownHost = new URL(service.url).host
      expect((await ask('/health', upgrade, ownHost)).status).toBe(200)
      expect((await ask('/v1/sandboxes', [...upgrade, key], ownHost)).status).toBe(200)
      expect((await ask('/v1/sandboxes', upgrade, ownHost)).status).toBe(401)
      expect((await ask('/nothing', upgrade, ownHost)).status).toBe(404)
      const { status, body } = await ask('/seen', upgrade)
      expect(status).toBe(200)
      expect(body).not.toMatch(/h2c|http2-settings/i)
    },
  )
})

describe('a server in a sandbox never receives Steward credentials', () => {
  const createHeaders = (secret: string): Record<string, readonly string[]> => ({
    'a second Authorization': ['Authorization: Basic b3du', `Authorization: Bearer ${secret}`],
    'the first Authorization of two': [`Authorization: ${secret}`, 'Authorization: Basic b3du'],
    'a second X-API-Key': ['X-API-Key: own', `X-API-Key: ${secret}`],
    'another header': [`X-Custom: ${secret}`],
    'in the middle of another header': [`X-Custom: key=${secret}; more`],
    'a header that is listed': [`X-Many: one, ${secret}, two`],
    'a cookie of another name': [`Cookie: own=1; token=${secret}; other=2`],
    'a cookie in quotes': [`Cookie: own=1; token="${secret}"`],
    'a second Cookie': ['Cookie: own=1', `Cookie: x=${secret}`],
    'an escaped cookie': [`Cookie: own=1; x=${secret.replace('_', '%5F')}`],
    'a user name and password': [`Authorization: Basic ${Buffer.from(`own:${secret}`).toString('base64')}`],
    'a user name': [`Authorization: Basic ${Buffer.from(`${secret}:`).toString('base64')}`],
    'the address it came from': [`Referer: http://localhost/?key=${secret}`],
    'a WebSocket protocol': [`Sec-WebSocket-Protocol: chat, steward.token.${secret}`],
    'a proxy header': [`Proxy-Authorization: Bearer ${secret}`, `X-Forwarded-For: ${secret}`],
  })

  test.each(Object.keys(createHeaders('')))('%s', async (location) => {
    const token = (await service.send(`${sandbox}/ports/3000/token`, { method: 'POST' })).json?.token
    for (const secret of [service.key, token ?? service.key]) {
      const { status, body } = await ask('/seen', ['X-Own: kept', ...(createHeaders(secret)[location] ?? [])])
      expect(status).toBe(200)
      expect(body).toMatch(/^x-own: kept\r$/im)
      for (const text of [body, decode(body)]) expect(text).not.toContain(secret.slice(4))
      if (location.includes('ookie')) expect(body).toMatch(/^cookie: .*own=1/im)
      if (location === 'a WebSocket protocol') expect(body).toMatch(/^sec-websocket-protocol: chat\r$/im)
    }
  })

  test('forwards the protocols of a WebSocket without the key', async () => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const protocol = `Sec-WebSocket-Protocol: chat, steward.token.${service.key}, other`
    const { body } = await ask('/seen', [...upgrade, protocol])
    expect(body).toMatch(/^sec-websocket-protocol: chat, other\r$/im)
    expect(body).not.toContain(service.key)
  })

  test('a header that only resembles a credential is forwarded', async () => {
    const { body } = await ask('/seen', [
      'X-Own: sk_steward_short',
      'Authorization: Basic b3duOnNlY3JldA==',
      'Cookie: sk_=1',
    ])
    expect(body).toMatch(/^x-own: sk_steward_short\r$/im)
    expect(body).toMatch(/^authorization: Basic b3duOnNlY3JldA==\r$/im)
    expect(body).toMatch(/^cookie: sk_=1\r$/im)
  })
})

function decode(text: string): string {
  const parts = [...text.matchAll(/[A-Za-z0-9+/]{16,}={0,2}/g)].map(([encoded]) =>
    Buffer.from(encoded, 'base64').toString('latin1'),
  )
  return [decodeURIComponent(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25')), ...parts].join('\n')
}
