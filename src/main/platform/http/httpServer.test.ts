import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineRoute } from '#shared/contract/route.ts'
import { pipelineServer, testEndpoint } from '#test/support/fakes/pipelineServer.ts'

/** Malformed requests that legitimate clients never send. */
const askRoute = defineRoute({
  operation: 'ask',
  method: 'POST',
  path: '/ask',
  summary: 'Ask',
  tag: 'Test',
  body: z.object({ text: z.string().optional() }),
  response: z.object({ who: z.string(), text: z.string().nullable() }),
})
const open = async () => {
  const received: string[] = []
  const server = await pipelineServer({
    endpoints: [
      testEndpoint(askRoute, ({ body }, { who }) => {
        received.push(`${who} ${body.text ?? ''}`)
        return { who, text: body.text ?? null }
      }),
    ],
  })
  const { host } = new URL(server.url)
  return { ...server, seen: received, host }
}

type Raw = { status: number; text: string; count: number }

/** @param lines of the head after the first. The connection ends with the response. */
async function send(
  opened: Awaited<ReturnType<typeof open>>,
  lines: readonly string[],
  { first = 'POST /ask HTTP/1.1', body = '' } = {},
): Promise<Raw> {
  const text = await opened.raw([first, ...lines, 'Connection: close', '', body].join('\r\n'))
  return { status: Number(text.slice(9, 12)), text, count: text.split('HTTP/1.1 ').length - 1 }
}

test('rejects a request with two Host headers in any order', async () => {
  const server = await open()
  for (const hosts of [
    [server.host, 'evil.example'],
    ['evil.example', server.host],
    [server.host, server.host],
  ]) {
    const { status, text } = await send(server, [...hosts.map((host) => `Host: ${host}`), 'X-API-Key: ada'])
    expect([status, text]).toEqual([400, expect.stringContaining('request/malformed')])
  }
  const none = await server.raw('POST /ask HTTP/1.1\r\nX-API-Key: ada\r\nConnection: close\r\n\r\n')
  expect(none).toMatch(/^HTTP\/1\.1 400 /)
  expect(server.seen).toEqual([])
})

test.each(['http://evil.example/ask', 'http://127.0.0.1/ask', '*', 'ask'])(
  'rejects the request target %s',
  async (address) => {
    const server = await open()
    const { status } = await send(server, [`Host: ${server.host}`, 'X-API-Key: ada'], {
      first: `POST ${address} HTTP/1.1`,
    })
    expect(status).toBe(400)
    expect(server.seen).toEqual([])
  },
)

test.each([
  ['both framings', ['Transfer-Encoding: chunked', 'Content-Length: 4']],
  ['two lengths', ['Content-Length: 4', 'Content-Length: 40']],
  ['a list of lengths', ['Content-Length: 4, 40']],
  ['a signed length', ['Content-Length: +4']],
  ['another encoding', ['Transfer-Encoding: chunked, identity']],
  ['an encoding in disguise', ['Transfer-Encoding: xchunked']],
  ['a blank before the colon', ['Transfer-Encoding : chunked']],
  ['a folded line', ['Content-Length: 4', ' X: y']],
])('a request with %s is not parsed as two requests', async (_, lines) => {
  const server = await open()
  const hidden = `0\r\n\r\nPOST /ask HTTP/1.1\r\nHost: ${server.host}\r\nX-API-Key: hidden\r\n\r\n`
  const answer = await send(
    server,
    [`Host: ${server.host}`, 'X-API-Key: ada', 'Content-Type: application/json', ...lines],
    {
      body: hidden,
    },
  )
  expect([answer.status, answer.count]).toEqual([400, 1])
  expect(server.seen).toEqual([])
})

test('two API keys in one request count as a single credential', async () => {
  const server = await open()
  const { text } = await send(server, [`Host: ${server.host}`, 'X-API-Key: ada', 'X-API-Key: eve'])
  expect(text).toContain('"who":"ada, eve"')
})

test('headers over the size limit get a single error response', async () => {
  const server = await open()
  const { status, text } = await send(server, [`Host: ${server.host}`, `X-Long: ${'x'.repeat(70_000)}`])
  expect([status, text]).toEqual([431, expect.stringContaining('The headers are too long.')])
})

test('input that is not HTTP gets an error response on the raw connection', async () => {
  const server = await open()
  expect(await server.raw('nonsense\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 400 [\s\S]*cache-control: no-store[\s\S]*request\/malformed/,
  )
})

const handshake = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
]

test.each([
  ['another method', 'POST /socket HTTP/1.1', []],
  ['a body', 'GET /socket HTTP/1.1', ['Content-Length: 4']],
  ['a chunked body', 'GET /socket HTTP/1.1', ['Transfer-Encoding: chunked']],
])('rejects a handshake with %s', async (_, first, lines) => {
  const server = await open()
  const text = await server.raw([first, `Host: ${server.host}`, ...handshake, ...lines, '', '4444'].join('\r\n'))
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*connection: close[\s\S]*request\/invalid/)
})

test.each(['h2c', 'TLS/1.0', 'websocket2'])('an upgrade to %s is answered like a plain request', async (protocol) => {
  const server = await open()
  const text = await server.raw(
    [
      'GET /socket HTTP/1.1',
      `Host: ${server.host}`,
      'Connection: Upgrade, close, HTTP2-Settings',
      `Upgrade: ${protocol}`,
      'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
      '',
      '',
    ].join('\r\n'),
  )
  expect(text).toMatch(/^HTTP\/1\.1 426 /)
})

test('an unsupported method gets an error with the allowed methods', async () => {
  const server = await open()
  for (const method of ['GET', 'OPTIONS', 'PROPFIND', 'DELETE']) {
    const { status, text } = await send(server, [`Host: ${server.host}`], { first: `${method} /ask HTTP/1.1` })
    expect([method, status, /\r\nallow: (.*)\r\n/.exec(text)?.[1]]).toEqual([method, 405, 'POST'])
  }
  expect((await send(server, [`Host: ${server.host}`], { first: 'OPTIONS /none HTTP/1.1' })).status).toBe(404)
})

test('rejects a request during server close and ends its connection', async () => {
  const server = await open()
  server.closing.abort()
  const { status, text } = await send(server, [`Host: ${server.host}`, 'X-API-Key: ada'])
  expect([status, text]).toEqual([503, expect.stringMatching(/connection: close[\s\S]*retry-after: 5/i)])
})
