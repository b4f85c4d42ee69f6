import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { eventually, until } from '#test/support/assertions/eventually.ts'
import { endProcess, isAlive } from '#test/support/assertions/processes.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { startSupervisor } from './sandboxSupervisor.ts'
import { createSpawner } from './spawner.ts'
import { toLaunchRequest } from './startRequest.ts'

test('an aborted start leaves no process, even one that bwrap just started', async () => {
  const folder = temporaryFolder('supervisor')
  const storage = join(folder, 'files')
  await mkdir(join(storage, 'root'), { recursive: true })
  const spawner = createSpawner({ perl: '/usr/bin/perl', folder, log: silentLog })
  onTestFinished(() => spawner.close())
  const pidFile = join(folder, 'pid')
  const launch = toLaunchRequest({
    cgroups: [],
    folder: { image: null, storage: { kind: 'folder', path: storage } },
    user: undefined,
    image: undefined,
    entries: [],
    command: ['/bin/sh', '-c', `sleep 600 & echo $! > ${pidFile}; wait`],
  })
  const aborting = new AbortController()
  const start = startSupervisor(
    spawner,
    {
      ...launch,
      folder,
      info: 3,
      keep: 0,
      processes: 100,
      inner_filter: null,
      terminals: 1,
      processors: [],
      view: { processors: 1, cpuinfo: '', memory: null, folders: [] },
      without: [],
    },
    aborting.signal,
  )
  const pid = await until(
    'the child of the command',
    () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')),
  )
  onTestFinished(() => endProcess(pid))
  expect(isAlive(pid)).toBe(true)
  aborting.abort()
  await expect(start).rejects.toThrow('aborted')
  await eventually(() => expect(isAlive(pid)).toBe(false))
})
