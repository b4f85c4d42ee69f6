import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import type { ListenAddress } from './listenAddress.ts'
import { listenOnRemembered } from './rememberedPort.ts'

const anyPort = { host: '127.0.0.1', port: 0 }

async function listen(address: ListenAddress): Promise<{ port: number; server: Server }> {
  const server = createServer().listen(address)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('It listens on no port.')
  return { port: bound.port, server }
}

test('reuses the port of the last run while it is free', async () => {
  const folder = temporaryFolder('port')
  const first = await listenOnRemembered(folder, 'app', anyPort, listen)
  const otherPort = await listenOnRemembered(folder, 'app', anyPort, listen)
  expect(otherPort.port).not.toBe(first.port)
  otherPort.server.close()
  await once(otherPort.server, 'close')
  const ports: number[] = []
  await listenOnRemembered(folder, 'app', anyPort, (address) => {
    ports.push(address.port)
    return listen(anyPort)
  })
  expect(ports).toEqual([otherPort.port])
})

test('abandons a port that is taken after the check', async () => {
  const folder = temporaryFolder('port')
  const { port, server } = await listenOnRemembered(folder, 'service', anyPort, listen)
  server.close()
  await once(server, 'close')
  const ports: number[] = []
  const opened = await listenOnRemembered(folder, 'service', anyPort, async (address) => {
    ports.push(address.port)
    if (address.port !== 0) throw new Error('taken')
    return listen(address)
  })
  expect(ports).toEqual([port, 0])
  expect(opened.port).toBeGreaterThan(0)
})

test('uses a requested port as given', async () => {
  const addresses: ListenAddress[] = []
  await listenOnRemembered(temporaryFolder('port'), 'app', { host: '127.0.0.1', port: 8080 }, async (address) => {
    addresses.push(address)
    return { port: 8080 }
  })
  expect(addresses).toEqual([{ host: '127.0.0.1', port: 8080 }])
})
