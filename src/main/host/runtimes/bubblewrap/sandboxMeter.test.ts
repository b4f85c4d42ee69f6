import { spawn } from 'node:child_process'
import { readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createSandboxMeter } from './sandboxMeter.ts'

/** Creates a cgroup folder with these kernel files. */
function cgroup(files: Record<string, string>): string {
  const folder = temporaryFolder('cgroup')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
const diskBytes = async () => 4096
const init = process.pid
const createProcesses = (cgroups: string[]) => ({ init, namespace: readlinkSync('/proc/self/ns/pid'), cgroups })

test('reads a version 2 cgroup', async () => {
  const folder = cgroup({
    'cgroup.procs': `0\n${init}\n`,
    'cpu.stat': 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n',
    'memory.current': '5000\n',
    'memory.stat': 'anon 3000\nfile 2000\ninactive_file 1500\nactive_file 500\n',
  })
  expect(await createSandboxMeter({ machine: createProcesses([folder]), diskBytes })()).toEqual({
    cpuMs: 2500,
    atMs: expect.any(Number),
    memoryBytes: 3500,
    processes: 1,
    diskBytes: 4096,
  })
})

test('reads version 1 cgroups, each from its own folder', async () => {
  const processes = { 'cgroup.procs': `${init}\n` }
  // On most systems, CPU and its accounting share a folder, where the file named as in version 2 reports throttling.
  const cpu = cgroup({ ...processes, 'cpu.stat': 'nr_periods 4\n', 'cpuacct.usage': '2500000000\n' })
  const memory = cgroup({
    ...processes,
    'memory.usage_in_bytes': '5000\n',
    'memory.stat': 'inactive_file 100\ntotal_inactive_file 1500\n',
  })
  const usage = await createSandboxMeter({ machine: createProcesses([memory, cpu]), diskBytes })()
  expect(usage).toMatchObject({ cpuMs: 2500, memoryBytes: 3500, processes: 1 })
})

test('sums up processes without cgroups, including exited ones', async () => {
  const measure = createSandboxMeter({ machine: createProcesses([]), diskBytes })
  const before = await measure()
  expect(before.processes).toBeGreaterThanOrEqual(1)
  expect(before.memoryBytes).toBeGreaterThan(1_000_000)
  const busy = spawn('/bin/sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
  try {
    await until('it to have worked', async () => (await measure()).cpuMs - before.cpuMs > 200)
  } finally {
    busy.kill('SIGKILL')
  }
  const working = await measure()
  await until('it to have ended', () => busy.signalCode !== null)
  expect((await measure()).cpuMs).toBeGreaterThanOrEqual(working.cpuMs)
})
