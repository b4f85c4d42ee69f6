import { expect, test } from 'vitest'
import type { ApiClient } from '#renderer/api/agentClient.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { createTransferQueue } from './transferQueue.ts'

/** Creates a fake service whose disk is full until space is freed. */
function fullDisk() {
  let isFull = true
  let begun = 0
  const agent = async (route: { operation: string }) => {
    if (route.operation === 'uploadBegin') {
      begun += 1
      return { upload_id: `upl_${String(begun).padStart(24, '0')}`, offset: 0, complete: false }
    }
    if (isFull) throw new AppError('file/no-space', 'The disk of the sandbox is full.')
    return { offset: 3, complete: true }
  }
  return {
    agent: agent as unknown as ApiClient, // only these two methods are called
    free() {
      isFull = false
    },
  }
}

test('a full disk pauses the whole queue until space is free', async () => {
  const disk = fullDisk()
  let ids = 0
  const queue = createTransferQueue({
    sandboxId: 'a'.repeat(32) as SandboxId,
    agent: disk.agent,
    notes: { read: () => [], keep() {}, forget() {} },
    onDone() {},
    newId: () => String(++ids),
    now: Date.now,
  })
  const states = () => queue.list().map(({ state }) => state)
  queue.add(['a', 'b', 'c', 'd', 'e'].map((name) => ({ path: `/root/${name}`, file: new File(['abc'], name) })))
  await until('all to be paused', () => states().every((state) => state === 'paused'))
  expect(queue.isDiskFull()).toBe(true)
  disk.free()
  queue.resumeAll()
  await until('all to be done', () => states().every((state) => state === 'done'))
  expect(queue.isDiskFull()).toBe(false)
  queue.close()
})
