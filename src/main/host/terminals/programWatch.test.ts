import { expect, test } from 'vitest'
import { until } from '../../../../test/support/eventually.ts'
import { programWatch } from './programWatch.ts'

test('a flood of output reads the program a few times, and each name is told once', async () => {
  let reads = 0
  const told: (string | null)[] = []
  const watch = programWatch({
    read: async () => ['vim', 'vim', undefined][Math.min(reads++, 2)],
    onProgram: (name) => told.push(name),
    settleMs: 1,
    restMs: 1,
  })
  for (let count = 0; count < 10_000; count++) watch.touched()
  await until('the program', () => told.length === 1)
  expect(reads).toBe(1)
  await until('the end of the program', () => {
    watch.touched()
    return told.length === 2
  })
  expect(told).toEqual(['vim', null])
  watch.close()
})

test('nothing is told once it is closed', async () => {
  const reading = Promise.withResolvers<string>()
  const told: (string | null)[] = []
  const begun = Promise.withResolvers<void>()
  const watch = programWatch({
    read() {
      begun.resolve()
      return reading.promise
    },
    onProgram: (name) => told.push(name),
    settleMs: 1,
  })
  watch.touched()
  await begun.promise
  watch.close()
  reading.resolve('vim')
  await reading.promise
  expect(told).toEqual([])
})
