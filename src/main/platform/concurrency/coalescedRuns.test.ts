import { expect, test } from 'vitest'
import { createCoalescedRuns } from './coalescedRuns.ts'

test('calls during a run share one further run', async () => {
  const runs = createCoalescedRuns()
  const began = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const calls: string[] = []
  const first = runs.run('a', async () => {
    began.resolve()
    calls.push('first begins')
    await gate.promise
    calls.push('first ends')
    throw new Error('first failed')
  })
  await began.promise
  const second = runs.run('a', async () => void calls.push('second'))
  const third = runs.run('a', async () => void calls.push('third'))
  await runs.run('b', async () => void calls.push('other key'))
  gate.resolve()
  await expect(first).rejects.toThrow('first failed')
  await Promise.all([second, third])
  expect(calls).toEqual(['first begins', 'other key', 'first ends', 'second'])
  await runs.run('a', async () => void calls.push('fourth'))
  expect(calls.at(-1)).toBe('fourth')
})
