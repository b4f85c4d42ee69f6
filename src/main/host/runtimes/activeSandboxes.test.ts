import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createActiveSandboxes } from './activeSandboxes.ts'
import type { SandboxInstance } from './sandboxRuntime.ts'

const id = SandboxId.parse('a1'.repeat(16))
const busy = expect.objectContaining({ code: 'sandbox/busy' })

function sandbox(): { machine: SandboxInstance; end: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<string>()
  return { machine: { id, ended } as SandboxInstance, end: () => resolve('It ended.') }
}

test('a sandbox is busy from its start to its end', async () => {
  const active = createActiveSandboxes()
  const { machine: started, end } = sandbox()
  const begun = Promise.withResolvers<SandboxInstance>()
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

test('a sandbox that failed to start may be started again', async () => {
  const active = createActiveSandboxes()
  const failing = active.begin(id, () => Promise.reject(new Error('no room')))
  await expect(failing).rejects.toThrow('no room')
  const { machine: started } = sandbox()
  expect(await active.begin(id, async () => started)).toBe(started)
})
