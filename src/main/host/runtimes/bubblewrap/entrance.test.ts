import { closeSync, constants, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openSandboxEntrance } from './entrance.ts'
import { openPseudoTerminal } from './pseudoTerminal.ts'
import { connectTo, createSpawner, type Spawner } from './spawner.ts'

const perl = '/usr/bin/perl'
const closings: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close()
})

/** Opens a terminal on this computer. The other side is locked until it is passed on. */
function terminal() {
  const { master, number } = openPseudoTerminal('/dev/ptmx')
  closings.push(() => closeSync(master))
  const openSide = () => closeSync(openSync(`/dev/pts/${number}`, constants.O_RDWR | constants.O_NOCTTY))
  return { master, openSide }
}

function entranceBy(by: Spawner) {
  const entrance = openSandboxEntrance({ perl, spawner: by, folder: temporaryFolder('entrance') })
  closings.push(() => entrance.close())
  return entrance
}

test('unlocks a terminal through the spawner', async () => {
  const ownSpawner = createSpawner({ perl, folder: temporaryFolder('spawner'), log: silentLog })
  closings.push(() => ownSpawner.close())
  const { master, openSide } = terminal()
  expect(openSide).toThrow('EIO')
  await entranceBy(ownSpawner).giveTerminal(master)
  expect(openSide).not.toThrow()
})

test('unlocks a terminal through a new helper if the spawner is not permitted', async () => {
  const path = join(temporaryFolder('refusing'), 'socket')
  const server = createServer((socket) => socket.end('{"failed":"Operation not permitted"}\n')).listen(path)
  closings.push(() => new Promise((resolve) => server.close(resolve)))
  const { master, openSide } = terminal()
  await entranceBy({ ask: () => connectTo(path), close: () => {} }).giveTerminal(master)
  expect(openSide).not.toThrow()
})
