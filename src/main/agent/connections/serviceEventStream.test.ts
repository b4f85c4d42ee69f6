import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type WebSocket, WebSocketServer } from 'ws'
import { createJsonLog } from '#platform/logging/log.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createServiceEventStream } from './serviceEventStream.ts'

const limits = { handshakeMs: 1_000, pingMs: 20, frozenMs: 100 }

/** Starts a service that responds to pings only when the test requests it. */
async function openFeed() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  await once(server, 'listening')
  const sockets: WebSocket[] = []
  let respondsToPings = true
  server.on('connection', (socket) => {
    sockets.push(socket)
    socket.on('ping', () => respondsToPings && socket.pong())
    socket.send('{"type":"ready"}')
  })
  const log: string[] = []
  const { port } = server.address() as AddressInfo
  const feed = createServiceEventStream({
    target: { url: `http://127.0.0.1:${port}`, key: 'sk_steward_test', certificate: undefined, socketPath: undefined },
    log: createJsonLog({ write: () => {}, now: () => 0, level: 'error' }),
    onEvent: ({ type }) => void log.push(type),
    onLost: (reason) => void log.push(reason),
    onResponsive: () => void log.push('answering'),
    onFrozen: () => void log.push('frozen'),
    limits,
  })
  onTestFinished(async () => {
    feed.close()
    for (const socket of sockets) socket.terminate()
    server.close()
    await once(server, 'close')
  })
  await until('it is connected', () => log.includes('ready'))
  return {
    log,
    sockets,
    server,
    answerPings(answers: boolean) {
      respondsToPings = answers
    },
  }
}

test('reports an unresponsive service and its recovery', async () => {
  const { log, sockets, answerPings } = await openFeed()
  answerPings(false)
  await until('it is noticed', () => log.includes('The service isn’t responding.'))
  answerPings(true)
  await until('it answers', () => log.includes('answering'))
  expect(sockets).toHaveLength(1)
})

test('reports a frozen service once and reconnects', async () => {
  const { log, sockets, answerPings } = await openFeed()
  answerPings(false)
  await until('it is connected anew', () => sockets.length > 1)
  answerPings(true)
  await until('it is ready', () => log.slice(log.indexOf('frozen')).includes('ready'))
  expect(log.filter((it) => it === 'frozen')).toHaveLength(1)
})

test('describes a lost connection without numbers', async () => {
  const { log, sockets } = await openFeed()
  sockets[0]?.terminate()
  await until('it is connected anew', () => sockets.length > 1)
  expect(log).toContain('The service closed the connection.')
  expect(log.join(' ')).not.toMatch(/\d/)
})
