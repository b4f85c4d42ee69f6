import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { measurePeer } from '../bench/peers/measurePeer.ts'
import { listHelpers } from '../bench/steward/processFigures.ts'
import { until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'

test.each(['create', 'exec', 'tmux'] as const)('benchmark peer %s is spawned by a small process', async (peer) => {
  const samples = await measurePeer(peer, 3, temporaryFolder('peer'))
  expect(samples).toHaveLength(3)
  expect(samples.every((ms) => ms > 0)).toBe(true)
})

test('measures a peer burst until its last command has run', async () => {
  const [lastMs = 0, ...others] = await measurePeer('burst', 2)
  expect(lastMs).toBeGreaterThan(0)
  expect(others).toEqual([])
})

test('does not count the processes of another part twice', async () => {
  const script = 'sh -c "sleep 100; true" & sleep 100 & echo $!; wait'
  const parent = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  await once(parent, 'spawn')
  const pid = parent.pid ?? expect.fail('a spawned process has a PID')
  try {
    const [printed] = await once(parent.stdout, 'data')
    const leaf = Number(printed)
    await until('the children to run', () => listHelpers(pid).length === 4)
    const all = listHelpers(pid)
    const part = all.find((each) => each !== pid && each !== leaf && listHelpers(each).length > 1) ?? 0
    expect(all).toEqual(expect.arrayContaining([pid, leaf, part]))
    const others = listHelpers(pid, [part])
    expect(others.toSorted()).toEqual([pid, leaf].toSorted())
  } finally {
    process.kill(-pid, 'SIGKILL')
    await once(parent, 'exit')
  }
})
