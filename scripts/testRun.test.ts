import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../test/support/assertions/eventually.ts'
import { listDescendants } from '../test/support/assertions/processes.ts'

test('a signal that ends the test command also ends its tests, which have a process group of their own', async () => {
  const parts = ['scripts/test.ts', '--project', 'unit', 'src/shared/emitter.test.ts']
  const runner = spawn(process.execPath, parts, { stdio: 'ignore' })
  onTestFinished(() => void runner.kill('SIGKILL'))
  const vitest = await until('vitest to start', () => listDescendants(runner.pid ?? 0)[0])
  expect(isGroup(vitest.pid)).toBe(true)
  runner.kill('SIGTERM')
  expect(await once(runner, 'exit')).toEqual([null, 'SIGTERM'])
  await until('the tests to end', () => !isGroup(vitest.pid))
})

function isGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}
