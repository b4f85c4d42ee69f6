import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { choosePort, rememberPort } from './rememberedPort.ts'

const anyPort = { host: '127.0.0.1', port: 0 }

test('the port of last time is chosen again while it is free', async () => {
  const folder = temporaryFolder('port')
  expect(await choosePort(folder, 'app', anyPort)).toBe(0)
  const server = createServer().listen(anyPort)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It listens on no port.')
  await rememberPort(folder, 'app', address.port)
  expect(await choosePort(folder, 'app', anyPort)).toBe(0)
  server.close()
  await once(server, 'close')
  expect(await choosePort(folder, 'app', anyPort)).toBe(address.port)
  expect(await choosePort(folder, 'service', anyPort)).toBe(0)
})

test('a port that was asked for is taken as it is', async () => {
  expect(await choosePort(temporaryFolder('port'), 'app', { host: '127.0.0.1', port: 8080 })).toBe(8080)
})
