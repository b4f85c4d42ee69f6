import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { activeMachines } from './activeMachines.ts'
import type { Machine } from './sandboxRuntime.ts'

const id = SandboxId.parse('a1'.repeat(16))
const busy = expect.objectContaining({ code: 'sandbox/busy' })

function machine(): { machine: Machine; end: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  return { machine: { id, ended } as Machine, end: () => resolve('It ended.') }
}

test('a machine is busy from its beginning to its end', async () => {
  const active = activeMachines()
  const { machine: made, end } = machine()
  const begun = Promise.withResolvers<Machine>()
  const beginning = active.begin(id, () => begun.promise)
  expect(active.running(id)).toBeUndefined()
  expect(() => active.needNone(id)).toThrow(busy)
  await expect(active.begin(id, async () => made)).rejects.toThrow(busy)

  begun.resolve(made)
  expect(await beginning).toBe(made)
  expect(active.running(id)).toBe(made)
  await expect(active.begin(id, async () => made)).rejects.toThrow(busy)

  end()
  await made.ended
  active.needNone(id)
  expect(active.running(id)).toBeUndefined()
})

test('one that could not begin may be tried again', async () => {
  const active = activeMachines()
  const failing = active.begin(id, () => Promise.reject(new Error('no room')))
  await expect(failing).rejects.toThrow('no room')
  const { machine: made } = machine()
  expect(await active.begin(id, async () => made)).toBe(made)
})
