import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createActiveMachines } from './activeMachines.ts'
import type { Machine } from './sandboxRuntime.ts'

const id = SandboxId.parse('a1'.repeat(16))
const busy = expect.objectContaining({ code: 'sandbox/busy' })

function machine(): { machine: Machine; end: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  return { machine: { id, ended } as Machine, end: () => resolve('It ended.') }
}

test('a machine is busy from its beginning to its end', async () => {
  const active = createActiveMachines()
  const { machine: started, end } = machine()
  const begun = Promise.withResolvers<Machine>()
  const beginning = active.begin(id, () => begun.promise)
  expect(active.running(id)).toBeUndefined()
  expect(() => active.assertInactive(id)).toThrow(busy)
  await expect(active.begin(id, async () => started)).rejects.toThrow(busy)

  begun.resolve(started)
  expect(await beginning).toBe(started)
  expect(active.running(id)).toBe(started)
  await expect(active.begin(id, async () => started)).rejects.toThrow(busy)

  end()
  await started.ended
  active.assertInactive(id)
  expect(active.running(id)).toBeUndefined()
})

test('one that could not begin may be tried again', async () => {
  const active = createActiveMachines()
  const failing = active.begin(id, () => Promise.reject(new Error('no room')))
  await expect(failing).rejects.toThrow('no room')
  const { machine: started } = machine()
  expect(await active.begin(id, async () => started)).toBe(started)
})
