import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createOperationQueue } from './operationQueue.ts'

const id = SandboxId.parse('a'.repeat(32))
const otherId = SandboxId.parse('b'.repeat(32))

test('runs operations of different sandboxes at once', async () => {
  const queue = createOperationQueue()
  const gate = Promise.withResolvers<string>()
  const first = queue.run(id, () => gate.promise)
  expect(await queue.run(otherId, async () => 'other')).toBe('other')
  expect([queue.isBusy(id), queue.isBusy(otherId)]).toEqual([true, false])
  gate.resolve('first')
  expect(await first).toBe('first')
  expect(queue.isBusy(id)).toBe(false)
})

test('a stop waits for the start before it', async () => {
  const queue = createOperationQueue()
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const start = queue.run(id, async () => {
    await gate.promise
    order.push('started')
  })
  const stop = queue.run(id, async () => void order.push('stopped'))
  gate.resolve()
  await Promise.all([start, stop])
  expect(order).toEqual(['started', 'stopped'])
})

test('a delete cancels running and queued operations, and a second delete joins it', async () => {
  const queue = createOperationQueue()
  const reason = new Error('deleted')
  let deletes = 0
  const start = queue.run(
    id,
    (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  const stop = queue.run(id, async () => {})
  const deleted = [1, 2].map(() => queue.preempt(id, reason, async () => void deletes++))
  await expect(start).rejects.toBe(reason)
  await expect(stop).rejects.toBe(reason)
  await Promise.all(deleted)
  expect(deletes).toBe(1)
  expect(queue.isBusy(id)).toBe(false)
})

test('a failed operation does not block later ones', async () => {
  const queue = createOperationQueue()
  await expect(
    queue.run(id, async () => {
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await expect(queue.preempt(id, new Error('deleted'), async () => {})).resolves.toBeUndefined()
})
