import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { noIpv6Loopback } from '#test/support/runner/ipv6Loopback.ts'
import type { ListenAddress } from './listenAddress.ts'
import { canListen, listenAt, startListening } from './loopbackListening.ts'
import { listenOnRemembered } from './rememberedPort.ts'

const anyPort = { host: '127.0.0.1', port: 0 }

/** Starts a server that responds to every request with the same text. */
async function listening(address: ListenAddress) {
  const server = createHttpServer((request, response) => response.end(`ours, to ${request.headers.host}`))
  const first = await listenAt({ server, address, open: (target) => startListening(server, target) })
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await first.close()
  }
  onTestFinished(close)
  return { port: first.port, close, server }
}

async function occupyAddress(address: ListenAddress): Promise<Server> {
  const server = createServer((socket) => socket.end('theirs'))
  server.listen({ ...address, ipv6Only: true })
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return server
}

async function takes(address: ListenAddress): Promise<string> {
  const server = createServer()
  onTestFinished(() => void server.close())
  server.listen({ ...address, ipv6Only: address.host === '::1' })
  return once(server, 'listening').then(
    () => 'listening',
    (error: NodeJS.ErrnoException) => String(error.code),
  )
}

async function freePort(): Promise<number> {
  const server = createServer().listen(anyPort)
  await once(server, 'listening')
  const bound = server.address()
  server.close()
  await once(server, 'close')
  if (bound === null || typeof bound === 'string') throw new Error('It listens on no port.')
  return bound.port
}

test.skipIf(noIpv6Loopback).each(['127.0.0.1', '::1', 'localhost', '0.0.0.0'])(
  'a listener on %s serves both loopback addresses and blocks others from them',
  async (host) => {
    const { port } = await listening({ host, port: 0 })
    for (const name of ['127.0.0.1', '[::1]']) {
      const url = `${name}:${port}`
      expect(await (await fetch(`http://${url}/`)).text()).toBe(`ours, to ${url}`)
    }
    expect(await takes({ host: '127.0.0.1', port })).toBe('EADDRINUSE')
    expect(await takes({ host: '::1', port })).toBe('EADDRINUSE')
  },
)

test.skipIf(noIpv6Loopback)('a port occupied at the other loopback address is named in the error', async () => {
  const port = await freePort()
  await occupyAddress({ host: '::1', port })
  await expect(listening({ host: '127.0.0.1', port })).rejects.toMatchObject({
    code: 'listen/failed',
    message: `Cannot listen on [::1]:${port}: another program is already listening there.`,
    detail: expect.stringContaining('both'),
  })
  expect(await canListen({ host: '127.0.0.1', port })).toBe(false)
  expect(await takes({ host: '127.0.0.1', port }), 'nothing is left open').toBe('listening')
})

test.skipIf(noIpv6Loopback)('a remembered port occupied at the other loopback address is abandoned', async () => {
  const folder = temporaryFolder('port')
  const first = await listenOnRemembered(folder, 'app', anyPort, listening)
  await first.close()
  await occupyAddress({ host: '::1', port: first.port })
  const second = await listenOnRemembered(folder, 'app', anyPort, listening)
  expect(second.port).not.toBe(first.port)
  expect(await takes({ host: '::1', port: second.port })).toBe('EADDRINUSE')
})

test('closing ends both listeners, even with a silent connection', async () => {
  const { port, close } = await listening(anyPort)
  const silent = connect({ host: noIpv6Loopback ? '127.0.0.1' : '::1', port })
  silent.on('error', () => {}) // the connection is cut
  await once(silent, 'connect')
  await (await fetch(`http://127.0.0.1:${port}/`)).text()
  const ended = once(silent, 'close')
  await close()
  await ended
  expect(await canListen({ host: '127.0.0.1', port })).toBe(true)
})

test('an address outside loopback is bound without a second address', async () => {
  expect(await canListen({ host: '192.0.2.1', port: 0 })).toBe(false)
  await expect(listening({ host: '192.0.2.1', port: 0 })).rejects.toMatchObject({
    message: 'Cannot listen on 192.0.2.1:0: this computer does not have that address.',
  })
})
