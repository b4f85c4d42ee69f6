import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../test/support/assertions/eventually.ts'
import { listDescendants } from '../test/support/assertions/processes.ts'

test('a signal that ends the test command also ends its tests, which have a process group of their own', async () => {
  const parts = ['scripts/test.ts', '--project', 'unit', 'src/shared/emitter.test.ts']
  const runner = spawn(process.execPath, parts, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void runner.kill('SIGKILL'))
  await once(runner.stdout, 'data') // vitest runs, and the command handles signals
  const group = await until('vitest to start', () => listDescendants(runner.pid ?? 0).find(({ pid }) => isGroup(pid)))
  runner.stdout.resume()
  runner.kill('SIGTERM')
  expect(await once(runner, 'exit')).toEqual([null, 'SIGTERM'])
  await until('the tests to end', () => !isGroup(group.pid))
})

function isGroup(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}
