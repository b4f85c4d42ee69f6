import { expect, test } from 'vitest'
import { createProcessors, parseUsableProcessors } from './processors.ts'

test('sandboxes get the least used processors and return them', () => {
  const all = createProcessors([0, 1, 2, 5])
  const first = all.take(2)
  expect(first.numbers).toEqual([0, 1])
  expect(all.take(1).numbers).toEqual([2])
  expect(all.take(1).numbers).toEqual([5])
  first.giveBack()
  first.giveBack()
  expect(all.take(2).numbers).toEqual([0, 1])
  expect(all.take(3).numbers).toEqual([0, 1, 2])
})

test('a sandbox with more processors than available gets all of them', () => {
  expect(createProcessors([0, 1]).take(2).numbers).toEqual([0, 1])
  expect(createProcessors([0, 1]).take(4).numbers).toEqual([0, 1])
})

test('parses the usable processors from the kernel list', () => {
  expect(parseUsableProcessors('Name:\tnode\nCpus_allowed_list:\t0-2,7,9-10\n')).toEqual([0, 1, 2, 7, 9, 10])
  expect(parseUsableProcessors('Cpus_allowed_list:\t3\n')).toEqual([3])
})
