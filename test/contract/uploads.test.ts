import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { createUploads, type Uploads } from '#service/files/uploads.ts'
import type { HostCall } from '#service/host/hostCalls.ts'
import { AppError } from '#shared/appError.ts'
import { uploadLimits } from '#shared/contract/uploads.ts'
import { AccountId, SandboxId, UploadId } from '#shared/ids.ts'
import { defineStatement } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import { openServiceStore, seedAccounts, seedSandbox } from '../support/fixtures/serviceStore.ts'
import { describeStores, type StoreEngine } from '../support/fixtures/storeEngines.ts'

const ada = AccountId.parse('acc_ada')
const sandboxId = SandboxId.parse('a'.repeat(32))

/** Uploads on both engines of the store, with files in memory. */
describeStores('uploads', (engine) => {
  test('bytes received in chunks become the file', async () => {
    const { uploads, files } = await open(engine)
    const begun = await uploads.begin(sandboxId, newFile({ size: 6 }))
    expect(begun).toMatchObject({ path: '/srv/file', place: '/srv/file', received: 0, complete: false })
    expect(await uploads.append(begun, chunk(0, 'abc'))).toMatchObject({ received: 3, complete: false })
    expect(await uploads.get(sandboxId, begun.id)).toMatchObject({ received: 3, complete: false, size: 6 })
    expect(await uploads.append(begun, chunk(3, 'def'))).toMatchObject({ received: 6, complete: true })
    expect(await uploads.get(sandboxId, begun.id)).toMatchObject({ received: 6, complete: true })
    expect([...files].map(([path, content]) => [path, content.toString()])).toEqual([['/srv/file', 'abcdef']])
  })

  test('of 20 concurrent appends at one offset, one is stored', async () => {
    const { uploads, files } = await open(engine)
    const begun = await uploads.begin(sandboxId, newFile({ size: 6 }))
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => uploads.append(begun, chunk(0, `${String.fromCharCode(97 + index)}00`))),
    )
    const stored = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    expect(stored.map(({ received }) => received)).toEqual([3])
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toHaveLength(19)
    expect(codes.filter((code) => code !== 'upload/offset' && code !== 'service/unavailable')).toEqual([])
    const { received, part } = await uploads.get(sandboxId, begun.id)
    expect(files.get(part)).toHaveLength(received)
  })

  test('two processes that append at one offset store it once', async () => {
    const { uploads, reopen } = await open(engine)
    const other = reopen()
    const begun = await uploads.begin(sandboxId, newFile({ size: 6 }))
    const results = await Promise.allSettled([
      uploads.append(begun, chunk(0, 'abc')),
      other.append(begun, chunk(0, 'abc')),
    ])
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    expect(failures).toEqual([expect.objectContaining({ code: 'upload/offset', detail: '3' })])
    expect(await uploads.get(sandboxId, begun.id)).toMatchObject({ received: 3 })
  })

  test('100 concurrent requests create as many uploads as are allowed', async () => {
    const { uploads, store, files } = await open(engine)
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, index) => uploads.begin(sandboxId, newFile({ path: `/srv/${index}`, size: 1 }))),
    )
    const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(codes).toEqual(Array.from({ length: 100 - uploadLimits.perSandbox }, () => 'upload/too-many'))
    expect(await store.read.first(countUploads)).toBe(uploadLimits.perSandbox)
    expect(files.size).toBe(uploadLimits.perSandbox)
  })

  test('an upload to a sandbox that is deleted meanwhile is not stored', async () => {
    const { uploads, store, hooks } = await open(engine)
    hooks.set('file.makeFolder', () => store.write((tx) => tx.run(deleteSandbox, { id: sandboxId })))
    await expect(uploads.begin(sandboxId, newFile({ size: 1 }))).rejects.toMatchObject({ code: 'sandbox/not-found' })
    expect(await store.read.first(countUploads)).toBe(0)
  })

  test('an append to an upload that is removed meanwhile fails and leaves no file at its path', async () => {
    const { uploads, store, hooks, files } = await open(engine)
    const begun = await uploads.begin(sandboxId, newFile({ size: 3 }))
    hooks.set('file.writeRange', () => store.write((tx) => tx.run(deleteSandbox, { id: sandboxId })))
    await expect(uploads.append(begun, chunk(0, 'abc'))).rejects.toMatchObject({ code: 'upload/not-found' })
    expect(files.has('/srv/file')).toBe(false)
  })

  test('a cancelled upload accepts no bytes, also of an append at the same time', async () => {
    const { uploads, store, files } = await open(engine)
    for (let round = 0; round < 10; round += 1) {
      const begun = await uploads.begin(sandboxId, newFile({ size: 6 }))
      const [append] = await Promise.allSettled([
        round % 2 === 0 ? uploads.append(begun, chunk(0, 'abc')) : uploads.cancel(begun),
        round % 2 === 0 ? uploads.cancel(begun) : uploads.append(begun, chunk(0, 'abc')),
      ])
      if (round % 2 === 1) expect(append.status).toBe('fulfilled')
      await expect(uploads.get(sandboxId, begun.id)).rejects.toMatchObject({ code: 'upload/not-found' })
    }
    expect(await store.read.first(countUploads)).toBe(0)
    expect(files.size).toBe(0)
  })

  test('removes abandoned uploads with their files, and records of complete ones', async () => {
    const { uploads, store, files, clock } = await open(engine)
    await uploads.begin(sandboxId, newFile({ path: '/srv/abandoned', size: 3 }))
    await uploads.append(await uploads.begin(sandboxId, newFile({ path: '/srv/complete', size: 3 })), chunk(0, 'abc'))
    clock.nowMs += uploadLimits.ttlMs + 1
    const recent = await uploads.begin(sandboxId, newFile({ path: '/srv/recent', size: 3 }))
    await uploads.sweep()
    expect([...files.keys()].sort()).toEqual([recent.part, '/srv/complete'].sort())
    expect(await store.read.first(countUploads)).toBe(1)
    expect((await uploads.get(sandboxId, recent.id)).id).toBe(recent.id)
  })

  test('an upload of another sandbox is not found', async () => {
    const { uploads } = await open(engine)
    const { id } = await uploads.begin(sandboxId, newFile({ size: 1 }))
    await expect(uploads.get(SandboxId.parse('b'.repeat(32)), id)).rejects.toMatchObject({ code: 'upload/not-found' })
    const unknown = UploadId.parse(`upl_${'0'.repeat(24)}`)
    await expect(uploads.get(sandboxId, unknown)).rejects.toMatchObject({ code: 'upload/not-found' })
  })
})

const countUploads = defineStatement('SELECT count(*) AS count FROM uploads').withRows((row) => Number(row.count))
const deleteSandbox = defineStatement<Params<'id'>>('DELETE FROM sandboxes WHERE id = @id')

type UploadFields = Parameters<Uploads['begin']>[1]
const newFile = (fields: Partial<UploadFields>): UploadFields => ({
  path: '/srv/file',
  size: 3,
  replace: false,
  ...fields,
})
const chunk = (offset: number, text: string) => ({
  offset,
  body: (async function* () {
    yield Buffer.from(text)
  })(),
  signal: new AbortController().signal,
})

async function open(engine: StoreEngine) {
  const { store } = await openServiceStore(engine)
  await seedAccounts(store, ada)
  await seedSandbox(store, ada, sandboxId)
  const clock = { nowMs: 1_000_000 }
  const { files, hooks, call } = createFiles()
  const create = (): Uploads => {
    const uploads = createUploads({
      ...{ store, call, randomBytes, log: silentLog },
      isRunning: async () => true,
      onComplete: () => {},
      now: () => clock.nowMs,
      passedMs: () => clock.nowMs,
    })
    onTestFinished(() => uploads.close())
    return uploads
  }
  return { store, clock, files, hooks, uploads: create(), reopen: create }
}

/** Files of a sandbox in memory. A hook runs once, before the call of its method. */
function createFiles() {
  const files = new Map<string, Buffer>()
  const hooks = new Map<string, () => Promise<unknown>>()
  const call = async (method: string, params: Record<string, string & number>, options?: { body?: Uint8Array }) => {
    const hook = hooks.get(method)
    hooks.delete(method)
    await hook?.()
    const { path = '', from = '', to = '', offset = 0 } = params
    if (method === 'file.writeRange') {
      files.set(
        path,
        Buffer.concat([(files.get(path) ?? Buffer.alloc(0)).subarray(0, offset), options?.body ?? Buffer.alloc(0)]),
      )
    } else if (method === 'file.remove') files.delete(path)
    else if (method === 'file.move') {
      files.set(to, files.get(from) ?? Buffer.alloc(0))
      files.delete(from)
    } else if (method === 'file.stat' && !files.has(path)) throw new AppError('file/not-found', `No ${path}.`)
    return { result: { size: files.get(path)?.length ?? 0, type: 'file' }, body: Buffer.alloc(0) }
  }
  return { files, hooks, call: call as unknown as HostCall } // only the methods of uploads
}
