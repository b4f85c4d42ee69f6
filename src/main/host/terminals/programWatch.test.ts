import { expect, test } from 'vitest'
import { until } from '#test/support/eventually.ts'
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
  expect(reads).toBeLessThan(3)
  await until('the end of the program', () => {
    watch.touched()
    return told.length === 2
  })
  expect(told).toEqual(['vim', null])
  watch.close()
})

test('a program that starts without a word is seen a moment after its line', async () => {
  const told: (string | null)[] = []
  let name: string | undefined
  const watch = programWatch({ read: async () => name, onProgram: (it) => told.push(it), settleMs: 1, restMs: 30 })
  watch.touched()
  setTimeout(() => {
    name = 'cat'
  }, 10)
  await until('the program', () => told.length === 1)
  expect(told).toEqual(['cat'])
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
