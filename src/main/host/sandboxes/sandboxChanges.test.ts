import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createSandboxChanges } from './sandboxChanges.ts'

const id = SandboxId.parse('a'.repeat(32))
const otherId = SandboxId.parse('b'.repeat(32))

test('rejects a second start of the same sandbox while the first is pending', async () => {
  const changes = createSandboxChanges()
  const gate = Promise.withResolvers<string>()
  const first = changes.begin(id, () => gate.promise)
  await expect(changes.begin(id, async () => 'second')).rejects.toMatchObject({ code: 'sandbox/busy' })
  expect(await changes.begin(otherId, async () => 'other')).toBe('other')
  gate.resolve('first')
  expect(await first).toBe('first')
  expect(await changes.begin(id, async () => 'again')).toBe('again')
  expect(changes.underWay(id)).toBe(false)
})

test('a stop waits for the start before it', async () => {
  const changes = createSandboxChanges()
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const start = changes.begin(id, async () => {
    await gate.promise
    order.push('started')
  })
  const stop = changes.queue(id, async () => void order.push('stopped'))
  gate.resolve()
  await Promise.all([start, stop])
  expect(order).toEqual(['started', 'stopped'])
})

test('a delete cancels running and queued changes, and a second delete joins it', async () => {
  const changes = createSandboxChanges()
  let deletes = 0
  const start = changes.begin(
    id,
    (called) => new Promise((_, reject) => called.addEventListener('abort', () => reject(called.reason))),
  )
  const stop = changes.queue(id, async () => {})
  const deleted = [1, 2].map(() => changes.overrule(id, async () => void deletes++))
  await expect(start).rejects.toMatchObject({ code: 'sandbox/not-found' })
  await expect(stop).rejects.toMatchObject({ code: 'sandbox/not-found' })
  await Promise.all(deleted)
  expect(deletes).toBe(1)
  expect(changes.underWay(id)).toBe(false)
})

test('a failed change does not block later ones', async () => {
  const changes = createSandboxChanges()
  await expect(
    changes.begin(id, async () => {
      throw new Error('no')
    }),
  ).rejects.toThrow('no')
  await expect(changes.overrule(id, async () => {})).resolves.toBeUndefined()
})
