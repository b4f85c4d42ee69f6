import { expect, test } from 'vitest'
import { machineSpec } from '#test/support/machines.ts'
import type { IdBlock } from './idBlocks.ts'
import { type MachineName, SpareName } from './machineFolder.ts'
import { takenIds } from './takenIds.ts'

const overlaps = (one: IdBlock, other: IdBlock): boolean =>
  one.first < other.first + other.count && other.first < one.first + one.count

test('reads the stored machines once, and gives nobody what is theirs', async () => {
  const stored: [MachineName, IdBlock][] = [[machineSpec().id, { first: 1_900_000_000, count: 150_000_000 }]]
  let reads = 0
  const ids = takenIds(async () => {
    reads++
    return stored
  })
  const given = await Promise.all([1, 2, 3].map(() => ids.take(machineSpec().id, 10_000_000)))
  expect(reads).toBe(1)
  const all = [...given, ...stored.map(([, block]) => block)]
  for (const one of all) expect(all.filter((other) => overlaps(one, other))).toEqual([one])
})

test('keeps what was passed on, and gives again what was given back', async () => {
  const whole = 200_000_000
  const ids = takenIds(async () => [])
  const spare = SpareName.parse('spare-0123456789abcdef')
  const { id } = machineSpec()
  await ids.take(spare, whole)
  ids.pass(spare, id)
  ids.giveBack(spare)
  ids.giveBack(id)
  expect((await ids.take(id, whole)).count).toBe(whole)
})

test('reads again after it could not', async () => {
  let tries = 0
  const ids = takenIds(async () => {
    if (tries++ === 0) throw new Error('no folder')
    return []
  })
  await expect(ids.take(machineSpec().id, 1)).rejects.toThrow('no folder')
  expect((await ids.take(machineSpec().id, 1)).count).toBe(1)
})
