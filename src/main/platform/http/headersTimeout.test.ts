import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '../logging/log.ts'
import { createHttpServer } from './httpServer.ts'

function createServer() {
  const closing = new AbortController()
  const answer = () => {
    throw new Error('Half a request was answered.')
  }
  const server = createHttpServer({
    tls: undefined,
    headers: {},
    closing: closing.signal,
    answer,
    upgrade: answer,
    log: silentLog,
  })
  onTestFinished(() => server.close(0))
  return server
}

test('request headers must arrive within ten seconds', async () => {
  const { server, listen } = createServer()
  await listen({ host: '127.0.0.1', port: 0 })
  expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 300_000, keepAliveTimeout: 72_000 })
})

test('an incomplete request gets 408 and its connection is closed', async () => {
  const { server, listen } = createServer()
  server.headersTimeout = 1
  const port = await listen({ host: '127.0.0.1', port: 0 })
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: ')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 /)
})
