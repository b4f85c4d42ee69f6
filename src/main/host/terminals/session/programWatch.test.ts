import { expect, test } from 'vitest'
import { until } from '#test/support/assertions/eventually.ts'
import { createProgramWatch } from './programWatch.ts'

test('reads the program a few times during a flood and reports each name once', async () => {
  let reads = 0
  const names: (string | null)[] = []
  const watch = createProgramWatch({
    read: async () => ['vim', 'vim', undefined][Math.min(reads++, 2)],
    onProgram: (name) => names.push(name),
    settleMs: 1,
    restMs: 1,
  })
  for (let count = 0; count < 10_000; count++) watch.recordOutput()
  await until('the program', () => names.length === 1)
  expect(reads).toBeLessThan(3)
  await until('the end of the program', () => {
    watch.recordOutput()
    return names.length === 2
  })
  expect(names).toEqual(['vim', null])
  watch.close()
})

test('detects a program without output shortly after its command line', async () => {
  const names: (string | null)[] = []
  let name: string | undefined
  const watch = createProgramWatch({
    read: async () => name,
    onProgram: (it) => names.push(it),
    settleMs: 1,
    restMs: 30,
  })
  watch.recordOutput()
  setTimeout(() => {
    name = 'cat'
  }, 10)
  await until('the program', () => names.length === 1)
  expect(names).toEqual(['cat'])
  watch.close()
})

test('reports nothing after close', async () => {
  const reading = Promise.withResolvers<string>()
  const names: (string | null)[] = []
  const begun = Promise.withResolvers<void>()
  const watch = createProgramWatch({
    read() {
      begun.resolve()
      return reading.promise
    },
    onProgram: (name) => names.push(name),
    settleMs: 1,
  })
  watch.recordOutput()
  await begun.promise
  watch.close()
  reading.resolve('vim')
  await reading.promise
  expect(names).toEqual([])
})
