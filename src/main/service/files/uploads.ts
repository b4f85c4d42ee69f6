import { posix } from 'node:path'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { FileState } from '#shared/contract/files.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { type beginUpload, uploadLimits } from '#shared/contract/uploads.ts'
import { type SandboxId, UploadId } from '#shared/ids.ts'
import { ConstraintError, type Store } from '#storage/store.ts'
import type { HostCall } from '../host/hostCalls.ts'
import { createUploadFiles, fileDeadlineMs } from './uploadFiles.ts'
import { type UploadRecord, uploadRepository } from './uploadRepository.ts'

export type Uploads = {
  /** @throws AppError `file/exists`, `file/changed`, `upload/too-many`, `sandbox/not-found` */
  begin(sandboxId: SandboxId, fields: UploadFields): Promise<UploadRecord>
  /** @throws AppError `upload/not-found` */
  get(sandboxId: SandboxId, id: UploadId): Promise<UploadRecord>
  /**
   * Stores received bytes, even if the connection breaks. The last byte moves the file to its path; if that fails, an
   * empty append retries it. An append in progress is aborted when another one begins.
   * @throws AppError `upload/not-found`, `upload/offset`, `upload/checksum`, `file/…`
   */
  append(record: UploadRecord, piece: UploadChunk): Promise<UploadRecord>
  cancel(record: UploadRecord): Promise<void>
  /** Removes abandoned uploads. */
  sweep(): Promise<void>
  close(): void
}

type UploadFields = Parsed<typeof beginUpload>['body']
type UploadChunk = { offset: number; body: AsyncIterable<Uint8Array>; signal: AbortSignal }

type Options = {
  store: Store
  call: HostCall
  isRunning: (id: SandboxId) => Promise<boolean>
  onComplete: (record: UploadRecord) => void
  randomBytes: (count: number) => Buffer
  now: () => number
  passedMs: () => number
  log: Log
}

const pieceBytes = 4 * 1024 * 1024
const sweepEveryMs = 10 * 60_000

export function createUploads(options: Options): Uploads {
  const { store, isRunning, onComplete, randomBytes, now, passedMs, log } = options
  const files = createUploadFiles(options.call)
  const appends = createAppends()

  const find = (sandboxId: SandboxId, id: UploadId) => uploadRepository.find(store.read, sandboxId, id)
  const get = async (sandboxId: SandboxId, id: UploadId): Promise<UploadRecord> =>
    (await find(sandboxId, id)) ?? throwMissingUpload(id)
  const removeRecord = (id: UploadId): Promise<void> => store.write((tx) => uploadRepository.remove(tx, id))

  /** @throws AppError `upload/not-found`, `upload/offset` if the record has changed */
  const change = async (record: UploadRecord, changes: Partial<UploadRecord>): Promise<UploadRecord> => {
    const changed = { ...record, ...changes, touchedAtMs: now() }
    const isCurrent = await store.write((tx) => uploadRepository.update(tx, changed, record.received))
    if (isCurrent) return changed
    throw createOffsetError(await get(record.sandboxId, record.id))
  }

  const complete = async (record: UploadRecord, signal: AbortSignal): Promise<UploadRecord> => {
    try {
      await files.assertChecksum(record, signal)
    } catch (error) {
      if (error instanceof AppError && error.code === 'upload/checksum') await forget(record)
      throw error
    }
    await files.movePart(record)
    const done = await change(record, { complete: true })
    onComplete(done)
    return done
  }

  const forget = async (record: UploadRecord): Promise<void> => {
    await files.removePart(record)
    await removeRecord(record.id)
  }

  const receive = async (record: UploadRecord, { offset, body, signal }: UploadChunk): Promise<UploadRecord> => {
    const { sandboxId, part, size } = record
    const there = await files.stat(sandboxId, part)
    if ((there?.size ?? -1) < record.received) {
      await removeRecord(record.id)
      throw new AppError('upload/not-found', `The partial upload of ${record.path} was removed in the sandbox.`)
    }
    let present = record
    let position = offset
    for await (const content of splitChunks(body, pieceBytes)) {
      if (position + content.length > size)
        throw new AppError('request/invalid', `Received more than the ${size} bytes of the file.`)
      signal.throwIfAborted()
      await files.writePart(record, { offset: position, content })
      position += content.length
      present = await change(present, { received: position })
    }
    signal.throwIfAborted()
    return position === size ? complete(present, signal) : present
  }

  /** Removes an upload that is still stale, unless an append is in progress. */
  const removeStale = async ({ id, sandboxId }: UploadRecord, sinceMs: number): Promise<void> => {
    if (appends.isRunning(id)) return
    await appends.run(id, async () => {
      const present = await find(sandboxId, id)
      if (present && present.touchedAtMs < sinceMs) await forget(present)
    })
  }

  const sweep = async (): Promise<void> => {
    const sinceMs = passedMs() - uploadLimits.ttlMs
    try {
      for (const record of await uploadRepository.findStale(store.read, sinceMs)) {
        try {
          if (record.complete) await removeRecord(record.id)
          else if (await isRunning(record.sandboxId)) await removeStale(record, sinceMs)
        } catch (error) {
          log.warn('failed to remove an abandoned upload', { id: record.id, error })
        }
      }
    } catch (error) {
      log.warn('failed to find abandoned uploads', { error })
    }
  }
  const timer = setInterval(() => void sweep(), sweepEveryMs)
  timer.unref()

  return {
    async begin(sandboxId, fields) {
      if (fields.path.endsWith('/')) throw new AppError('file/path', `${fields.path} is a folder.`)
      assertBelowLimit(await uploadRepository.countOpen(store.read, sandboxId))
      const { place, there } = await files.locateTarget(sandboxId, fields.path)
      assertReplaceable(fields, there)
      const id = UploadId.parse(`upl_${randomBytes(12).toString('hex')}`)
      const record = createRecord({ id, sandboxId, place, touchedAtMs: now() }, fields)
      await files.makeFolder(record)
      await addBelowLimit(store, record)
      try {
        await files.createPart(record)
        return record.size === 0 ? await complete(record, AbortSignal.timeout(fileDeadlineMs)) : record
      } catch (error) {
        await forget(record).catch((cause: unknown) => log.warn('failed to remove an upload', { id, error: cause }))
        throw error
      }
    },
    get,
    append: ({ id, sandboxId }, piece) =>
      appends.run(id, async (stopped) => {
        const present = await get(sandboxId, id)
        if (present.complete) return present
        if (piece.offset !== present.received) throw createOffsetError(present)
        const signal = AbortSignal.any([piece.signal, stopped])
        return await receive(present, { ...piece, body: readUntilAborted(piece.body, signal), signal })
      }),
    cancel: ({ id, sandboxId }) =>
      appends.run(id, async () => {
        const present = await find(sandboxId, id)
        if (present && !present.complete) await forget(present)
        else await removeRecord(id)
      }),
    sweep,
    close: () => clearInterval(timer),
  }
}

/** Runs one append or removal per upload at a time. A new one aborts the previous one and waits for its end. */
function createAppends() {
  const appending = new Map<UploadId, { stop: () => void; ended: Promise<void> }>()
  return {
    isRunning: (id: UploadId): boolean => appending.has(id),
    async run<T>(id: UploadId, append: (stopped: AbortSignal) => Promise<T>): Promise<T> {
      for (let pending = appending.get(id); pending; pending = appending.get(id)) {
        pending.stop()
        await pending.ended
      }
      const stopped = new AbortController()
      const ended = Promise.withResolvers<void>()
      appending.set(id, { stop: () => stopped.abort(), ended: ended.promise })
      try {
        return await append(stopped.signal)
      } finally {
        appending.delete(id)
        ended.resolve()
      }
    },
  }
}

/** @throws AppError `upload/too-many` */
function assertBelowLimit(openUploads: number): void {
  if (openUploads < uploadLimits.perSandbox) return
  throw new AppError('upload/too-many', `${uploadLimits.perSandbox} uploads to this sandbox are not complete yet.`)
}

/** @throws AppError `upload/too-many`, `sandbox/not-found` */
async function addBelowLimit(store: Store, record: UploadRecord): Promise<void> {
  const add = store.write(async (tx) => {
    assertBelowLimit(await uploadRepository.countOpen(tx, record.sandboxId))
    await uploadRepository.add(tx, record)
  })
  await add.catch((cause: unknown) => {
    if (!(cause instanceof ConstraintError) || cause.kind !== 'foreign-key') throw cause
    throw new AppError('sandbox/not-found', 'Sandbox not found or access denied', { cause })
  })
}

/** @throws AppError `file/exists`, `file/not-a-file`, `file/changed` */
function assertReplaceable({ path, replace, if_version }: UploadFields, there: FileState | undefined): void {
  if (there && !replace) throw new AppError('file/exists', `${path} already exists.`)
  if (there && there.type !== 'file') throw new AppError('file/not-a-file', `${path} is not a regular file.`)
  if (if_version !== undefined && there?.version !== if_version) {
    throw new AppError('file/changed', `${path} has changed.`)
  }
}

function createRecord(
  target: Pick<UploadRecord, 'id' | 'sandboxId' | 'place' | 'touchedAtMs'>,
  { path, size, modified_at, replace, if_version, sha256 }: UploadFields,
): UploadRecord {
  const { id, place } = target
  return {
    ...target,
    path,
    part: posix.join(posix.dirname(place), `.${id}.part`),
    size,
    received: 0,
    replaces: replace,
    ifVersion: if_version ?? null,
    sha256: sha256 ?? null,
    modifiedAtMs: modified_at === undefined ? null : Date.parse(modified_at),
    complete: false,
  }
}

/** Yields chunks of the body. Throws when the signal aborts, even if no data arrives. */
async function* readUntilAborted(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  let stop = (): void => {}
  const onAbort = () => stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      // `Promise.race` with one long-lived promise would retain every chunk.
      const { done, value } = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        stop = () => reject(new AppError('service/unavailable', 'The upload was interrupted.'))
        if (signal.aborted) stop()
        pieces.next().then(resolve, reject)
      })
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function throwMissingUpload(id: UploadId): never {
  throw new AppError('upload/not-found', `There is no upload ${id}.`)
}

function createOffsetError({ received }: UploadRecord): AppError {
  return new AppError('upload/offset', `The upload continues at ${received}.`, { detail: String(received) })
}

/** Splits a stream into chunks of one size; the last one may be shorter. Data before an error is yielded. */
async function* splitChunks(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let streamError: { cause: unknown } | undefined
  const iterator = pieces[Symbol.asyncIterator]()
  for (;;) {
    const next = await iterator.next().catch((cause: unknown) => {
      streamError = { cause }
      return { done: true, value: undefined } as const
    })
    if (next.done || next.value === undefined) break
    pending.push(next.value)
    pendingBytes += next.value.length
    if (pendingBytes < bytes) continue
    const all = Buffer.concat(pending)
    const whole = pendingBytes - (pendingBytes % bytes)
    for (let offset = 0; offset < whole; offset += bytes) yield all.subarray(offset, offset + bytes)
    pending = whole === pendingBytes ? [] : [all.subarray(whole)]
    pendingBytes -= whole
  }
  if (pendingBytes > 0) yield Buffer.concat(pending)
  if (streamError) throw streamError.cause
}
