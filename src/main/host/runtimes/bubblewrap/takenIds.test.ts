import { expect, test } from 'vitest'
import { createSandboxSpec } from '#test/support/fixtures/sandboxSpecs.ts'
import type { IdBlock } from './idBlocks.ts'
import { type SandboxName, WarmSandboxName } from './sandboxFolder.ts'
import { createIdAllocations } from './takenIds.ts'

const overlaps = (a: IdBlock, b: IdBlock): boolean => a.first < b.first + b.count && b.first < a.first + a.count

test('reads stored sandboxes once and does not allocate their ids', async () => {
  const stored: [SandboxName, IdBlock][] = [[createSandboxSpec().id, { first: 1_900_000_000, count: 150_000_000 }]]
  let reads = 0
  const ids = createIdAllocations(async () => {
    reads++
    return stored
  })
  const blocks = await Promise.all([1, 2, 3].map(() => ids.take(createSandboxSpec().id, 10_000_000)))
  expect(reads).toBe(1)
  const all = [...blocks, ...stored.map(([, block]) => block)]
  for (const block of all) expect(all.filter((b) => overlaps(block, b))).toEqual([block])
})

test('keeps transferred ids and reuses released ones', async () => {
  const whole = 200_000_000
  const ids = createIdAllocations(async () => [])
  const warm = WarmSandboxName.parse('spare-0123456789abcdef')
  const { id } = createSandboxSpec()
  await ids.take(warm, whole)
  ids.pass(warm, id)
  ids.giveBack(warm)
  ids.giveBack(id)
  expect((await ids.take(id, whole)).count).toBe(whole)
})

test('reads again after an error', async () => {
  let tries = 0
  const ids = createIdAllocations(async () => {
    if (tries++ === 0) throw new Error('no folder')
    return []
  })
  await expect(ids.take(createSandboxSpec().id, 1)).rejects.toThrow('no folder')
  expect((await ids.take(createSandboxSpec().id, 1)).count).toBe(1)
})
