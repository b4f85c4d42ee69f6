import { expect, test } from 'vitest'
import { keyedQueue } from './keyedQueue.ts'

test('work under one key happens one after the other, failed or not', async () => {
  const queue = keyedQueue()
  const seen: string[] = []
  const first = Promise.withResolvers<void>()
  const one = queue.run('a', async () => {
    seen.push('one begins')
    await first.promise
    seen.push('one ends')
    throw new Error('one failed')
  })
  const two = queue.run('a', async () => void seen.push('two'))
  const other = queue.run('b', async () => void seen.push('other key'))
  await other
  expect(seen).toEqual(['one begins', 'other key'])
  first.resolve()
  await expect(one).rejects.toThrow('one failed')
  await two
  expect(seen).toEqual(['one begins', 'other key', 'one ends', 'two'])
})
