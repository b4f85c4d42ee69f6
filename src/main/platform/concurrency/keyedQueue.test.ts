import { expect, test } from 'vitest'
import { createKeyedQueue } from './keyedQueue.ts'

test('work under one key runs sequentially even after errors', async () => {
  const queue = createKeyedQueue()
  const calls: string[] = []
  const first = Promise.withResolvers<void>()
  const one = queue.run('a', async () => {
    calls.push('one begins')
    await first.promise
    calls.push('one ends')
    throw new Error('one failed')
  })
  const two = queue.run('a', async () => void calls.push('two'))
  const second = queue.run('b', async () => void calls.push('other key'))
  await second
  expect(calls).toEqual(['one begins', 'other key'])
  first.resolve()
  await expect(one).rejects.toThrow('one failed')
  await two
  expect(calls).toEqual(['one begins', 'other key', 'one ends', 'two'])
})
