import { spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { SnapshotId } from '#shared/ids.ts'
import { eventually, until } from '../support/assertions/eventually.ts'
import { listProcesses } from '../support/assertions/processes.ts'
import { findUid, listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { testRuntime } from '../support/fixtures/bubblewrapSandboxes.ts'
import { createSandboxSpec, never, run } from '../support/fixtures/sandboxSpecs.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

/** The process that creates a snapshot is killed while the sandbox is frozen. */
test.for([
  ['its helper lets go of the sandbox', false],
  ['and its helper with it: the next one lets go of the sandbox', true],
] as const)('kill -9 during a snapshot: %s, and the partial copy is removed', async ([, alsoHelper], context) => {
  const folder = join(temporaryFolder('snapshot'), 'machines')
  const runtime = testRuntime({ folder, log: silentLog, now: Date.now })
  const { enforced } = await runtime.describe()
  context.skip(!enforced.disk, 'this machine cannot mount disk images, and says so')
  const spec = createSandboxSpec()
  const { id } = spec
  const snapshotId = SnapshotId.parse(`snap_${'f'.repeat(24)}`)
  const script = join(import.meta.dirname, '../support/processes/abandonedSnapshot.ts')
  const host = spawn(process.execPath, [script, folder, id, snapshotId], { stdio: ['ignore', 'ignore', 'inherit'] })
  const copy = () =>
    listProcesses().find(({ command }) => command.startsWith('/bin/cp') && command.includes(snapshotId))
  await until('the copy to wait', () => {
    if (host.exitCode !== null) throw new Error(`It ended with ${host.exitCode}.`)
    return copy()
  })
  const uid = await findUid(folder, id)
  const helper = listProcesses().find(
    ({ parentPid, command }) => parentPid === host.pid && command === 'steward freeze',
  )
  expect(helper).toBeDefined()
  if (alsoHelper && helper) process.kill(helper.pid, 'SIGKILL')
  host.kill('SIGKILL')
  await until('the host to end', () => host.signalCode)
  await until('the copy to end with it', () => copy() === undefined)

  if (alsoHelper) await runtime.sweep()
  await eventually(async () => {
    const remaining = await listSandboxResources({ id, folder, uid })
    expect(remaining.filter((value) => value !== id && !value.startsWith('/sys/fs/cgroup/'))).toEqual([])
  })
  if (!alsoHelper) await runtime.sweep()
  expect(await readdir(join(folder, id, 'snapshots'))).toEqual([])
  const instance = await runtime.start(spec, never)
  expect(await run(instance, 'cat /root/kept; echo more >> /root/ticks')).toBe('kept\n')
  await instance.stop()
  await runtime.remove(id)
  await eventually(async () => expect(await listSandboxResources({ id, folder, uid })).toEqual([]))
})
