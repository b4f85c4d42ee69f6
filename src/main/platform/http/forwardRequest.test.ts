import { once } from 'node:events'
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { rawExchange } from '#test/support/fakes/pipelineServer.ts'
import { silentLog } from '../logging/log.ts'
import { forwardRequest, type ProxyOptions } from './forwardRequest.ts'
import { forwardUpgrade } from './forwardUpgrade.ts'
import { createHttpServer } from './httpServer.ts'

/** Opens a server behind a proxy that reports every error by its name. */
async function openProxied(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  {
    answerMs = 60_000,
    onAnswer = () => {},
  }: { answerMs?: number; onAnswer?: (response?: ServerResponse) => void } = {},
) {
  const upstream = createServer(answer).listen({ host: '127.0.0.1', port: 0 })
  await once(upstream, 'listening')
  const { port: upstreamPort } = upstream.address() as AddressInfo // the server listens on TCP
  const agent = new Agent({ keepAlive: true })
  const createForwarding = ({ method, url, headers }: IncomingMessage, response?: ServerResponse): ProxyOptions => ({
    reach: () => (framing) =>
      httpRequest({
        agent,
        host: '127.0.0.1',
        port: upstreamPort,
        method: method ?? 'GET',
        path: url ?? '/',
        headers: {
          connection: 'keep-alive',
          'content-type': headers['content-type'] ?? '',
          ...(headers['content-length'] && { 'content-length': headers['content-length'] }),
          ...framing,
        },
      }),
    answerHead() {
      onAnswer(response)
      return { reason: undefined, headers: {} }
    },
    answerMs,
    idleMs: 60_000,
    toError: (kind, cause) => new AppError('port/failed', String(kind), { cause }),
  })
  const server = createHttpServer({
    tls: undefined,
    headers: {},
    closing: new AbortController().signal,
    answer: (exchange) => forwardRequest(exchange, createForwarding(exchange.request, exchange.response)),
    upgrade: (upgrade) => forwardUpgrade(upgrade, createForwarding(upgrade.request)),
    log: silentLog,
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  onTestFinished(async () => {
    await server.close(0)
    agent.destroy()
    upstream.close()
    upstream.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${port}`, port, behind: upstream }
}

test('a disconnect between the last byte and the end of a response is harmless', async () => {
  let leaves = true
  const { url } = await openProxied((_, response) => response.end('whole'), {
    onAnswer: (response) => leaves && response?.destroy(),
  })
  for (let count = 0; count < 5; count += 1) await expect(fetch(`${url}/`)).rejects.toThrow('fetch failed')
  leaves = false
  expect(await (await fetch(`${url}/`)).text()).toBe('whole')
})

test('an upstream server that does not respond is reported as late', async () => {
  const { url } = await openProxied(() => {}, { answerMs: 20 })
  const answer = await fetch(`${url}/`)
  expect([answer.status, (await answer.json()).error]).toEqual([502, 'late'])
})

test('a response that begins before the request ends may exceed the timeout', async () => {
  const { port } = await openProxied(
    (request, response) => {
      response.write('begun ')
      // Five times the timeout for the start of a response.
      request.resume().once('end', () => setTimeout(() => response.end('ended'), 100))
    },
    { answerMs: 20 },
  )
  const requested = httpRequest({ port, method: 'POST', path: '/', headers: { 'transfer-encoding': 'chunked' } })
  requested.write('first')
  const answer = await new Promise<IncomingMessage>((resolve) => requested.once('response', resolve))
  requested.end('last')
  let text = ''
  for await (const piece of answer) text += String(piece)
  expect(text).toBe('begun ended')
})

test('a client disconnect closes the connection to the upstream server', async () => {
  let received: IncomingMessage | undefined
  const { url } = await openProxied((request) => {
    received = request
  })
  const leaving = new AbortController()
  const answer = fetch(`${url}/`, { signal: leaving.signal })
  const { socket } = await until('the request to arrive', () => received)
  const closed = once(socket, 'close')
  leaving.abort()
  await expect(answer).rejects.toThrow()
  await closed
})

test('client bytes sent before the upgrade are delivered afterwards in order', async () => {
  const { port, behind: upstream } = await openProxied(() => {})
  upstream.on('upgrade', (_, socket) => {
    socket.on('error', () => {}).once('end', () => socket.end())
    socket.write('HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhello ')
    socket.on('data', (bytes: Buffer) => socket.write(bytes.toString().toUpperCase()))
  })
  const socket = connectTo(port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes.toString()
  })
  const head = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', '', 'early '].join('\r\n')
  socket.write(head)
  await until('the early words', () => text.endsWith('\r\n\r\nhello EARLY '))
  socket.write('late')
  await until('the late words', () => text.endsWith('EARLY LATE'))
  socket.destroy()
})

test('a refused handshake returns the upstream response and closes', async () => {
  const { port, behind: upstream } = await openProxied(() => {})
  upstream.on('upgrade', (_, socket) =>
    socket
      .resume()
      .end('HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nno\r\n0\r\n\r\n'),
  )
  const head = ['GET / HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', '', ''].join('\r\n')
  expect(await rawExchange(port, head)).toBe('HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\nno')
})

test('a body rejected early leaves the connection usable for the next request', async () => {
  const { port } = await openProxied((request, response) => {
    if (request.method === 'GET') return void response.end('next')
    response.writeHead(413).end('refused')
    request.resume()
  })
  for (let round = 0; round < 10; round++) {
    const bodyBytes = 2 * 1024 * 1024
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: ${bodyBytes}\r\n\r\n`
    const next = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const answers = await rawExchange(port, `${head}${'x'.repeat(bodyBytes)}${next}`)
    expect([...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)).toEqual(['413', '200'])
  }
})
