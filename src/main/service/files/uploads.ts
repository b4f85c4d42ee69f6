import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { FileState } from '#shared/contract/files.ts'
import { maxRangeBytes } from '#shared/contract/hostIpc.ts'
import type { Parsed } from '#shared/contract/route.ts'
import { type beginUpload, uploadLimits } from '#shared/contract/uploads.ts'
import { type SandboxId, UploadId } from '#shared/ids.ts'
import type { HostCall } from '../host/hostCalls.ts'
import { cutPieces } from './cutPieces.ts'
import type { UploadRecord, UploadRepository } from './uploadRepository.ts'

export type Uploads = {
  /** @throws AppError `file/exists`, `file/changed`, `upload/too-many` */
  begin(sandboxId: SandboxId, fields: Parsed<typeof beginUpload>['body']): Promise<UploadRecord>
  /** @throws AppError `upload/not-found` */
  get(sandboxId: SandboxId, id: UploadId): UploadRecord
  /**
   * Stores received bytes, even if the connection breaks. The last byte moves the file into place; if that fails, an
   * empty append retries it. An append in progress ends when another begins.
   * @throws AppError `upload/not-found`, `upload/offset`, `upload/checksum`, `file/…`
   */
  append(record: UploadRecord, piece: Piece): Promise<UploadRecord>
  cancel(record: UploadRecord): Promise<void>
  /** Removes abandoned uploads. */
  sweep(): Promise<void>
  close(): void
}

type Piece = { offset: number; body: AsyncIterable<Uint8Array>; signal: AbortSignal }

type Options = {
  records: UploadRepository
  call: HostCall
  isRunning: (id: SandboxId) => boolean
  onComplete: (record: UploadRecord) => void
  randomBytes: (count: number) => Buffer
  now: () => number
  passedMs: () => number
  log: Log
}

const pieceBytes = 4 * 1024 * 1024
const fileDeadlineMs = 120_000
const sweepEveryMs = 10 * 60_000
/** As many as Linux follows. */
const maxLinks = 40

export function createUploads({
  records,
  call,
  isRunning,
  onComplete,
  randomBytes,
  now,
  passedMs,
  log,
}: Options): Uploads {
  const appending = new Map<UploadId, { stop: () => void; ended: Promise<void> }>()

  const stat = async (sandboxId: SandboxId, path: string): Promise<FileState | undefined> => {
    try {
      return (await call('file.stat', { sandboxId, path })).result
    } catch (error) {
      if (error instanceof AppError && error.code === 'file/not-found') return undefined
      throw error
    }
  }

  /** A link in its place stays one: what it leads to is written. */
  const locateTarget = async (sandboxId: SandboxId, path: string): Promise<{ place: string; there?: FileState }> => {
    let target = path
    for (let links = 0; links < maxLinks; links++) {
      const there = await stat(sandboxId, target)
      if (there?.target === undefined) return { place: target, ...(there && { there }) }
      target = posix.resolve(posix.dirname(target), there.target)
    }
    throw new AppError('file/path', `${path} goes through too many links.`)
  }

  const removePart = async ({ sandboxId, part }: UploadRecord): Promise<void> => {
    try {
      await call('file.remove', { sandboxId, path: part, recursive: false })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'file/not-found') throw error
    }
  }

  const change = (record: UploadRecord, changes: Partial<UploadRecord>): UploadRecord => {
    const changed = { ...record, ...changes, touchedAtMs: now() }
    records.update(changed)
    return changed
  }

  const checkSum = async (
    { sandboxId, part, sha256, size, path }: UploadRecord,
    signal: AbortSignal,
  ): Promise<void> => {
    if (sha256 === null) return
    const hash = createHash('sha256')
    for (let offset = 0; offset < size; offset += maxRangeBytes) {
      const range = { sandboxId, path: part, offset, length: maxRangeBytes }
      hash.update((await call('file.readRange', range, { deadlineMs: fileDeadlineMs, signal })).body)
    }
    if (hash.digest('hex') === sha256) return
    throw new AppError('upload/checksum', `The received bytes of ${path} have another SHA-256.`)
  }

  const complete = async (record: UploadRecord, signal: AbortSignal): Promise<UploadRecord> => {
    const { sandboxId, part, place, replaces, ifVersion, modifiedAtMs } = record
    try {
      await checkSum(record, signal)
    } catch (error) {
      if (error instanceof AppError && error.code === 'upload/checksum') await forget(record)
      throw error
    }
    await call('file.move', {
      sandboxId,
      from: part,
      to: place,
      replace: replaces,
      keepMode: replaces,
      ...(ifVersion !== null && { ifVersion }),
      ...(modifiedAtMs !== null && { modifiedAtMs }),
    })
    const done = change(record, { complete: true })
    onComplete(done)
    return done
  }

  const forget = async (record: UploadRecord): Promise<void> => {
    await removePart(record)
    records.remove(record.id)
  }

  const take = async (record: UploadRecord, { offset, body, signal }: Piece): Promise<UploadRecord> => {
    const { sandboxId, part: path, size } = record
    const there = await stat(sandboxId, path)
    if ((there?.size ?? -1) < record.received) {
      records.remove(record.id)
      throw new AppError('upload/not-found', `The received part of ${record.path} was removed in the sandbox.`)
    }
    let present = record
    let position = offset
    for await (const content of cutPieces(body, pieceBytes)) {
      if (position + content.length > size)
        throw new AppError('request/invalid', `More than the ${size} bytes of the file arrived.`)
      signal.throwIfAborted()
      await call(
        'file.writeRange',
        { sandboxId, path, offset: position, truncate: true },
        { body: content, deadlineMs: fileDeadlineMs },
      )
      position += content.length
      present = change(present, { received: position })
    }
    signal.throwIfAborted()
    return position === size ? complete(present, signal) : present
  }

  const append = async (record: UploadRecord, piece: Piece): Promise<UploadRecord> => {
    const { id, sandboxId } = record
    for (let pending = appending.get(id); pending; pending = appending.get(id)) {
      pending.stop()
      await pending.ended
    }
    const stopped = new AbortController()
    const ended = Promise.withResolvers<void>()
    appending.set(id, { stop: () => stopped.abort(), ended: ended.promise })
    try {
      const present = records.find(sandboxId, id) ?? missing(id)
      if (present.complete) return present
      if (piece.offset !== present.received) throw wrongOffset(present)
      const signal = AbortSignal.any([piece.signal, stopped.signal])
      return await take(present, { ...piece, body: until(piece.body, signal), signal })
    } finally {
      appending.delete(id)
      ended.resolve()
    }
  }

  const sweep = async (): Promise<void> => {
    for (const record of records.findStale(passedMs() - uploadLimits.keptMs)) {
      try {
        if (record.complete) records.remove(record.id)
        else if (isRunning(record.sandboxId) && !appending.has(record.id)) await forget(record)
      } catch (error) {
        log.warn('an upload that nobody went on with stays', { id: record.id, error })
      }
    }
  }
  const timer = setInterval(() => void sweep(), sweepEveryMs)
  timer.unref()

  return {
    async begin(sandboxId, { path, size, modified_at, replace, if_version, sha256 }) {
      if (path.endsWith('/')) throw new AppError('file/path', `${path} is a folder.`)
      if (records.countOpen(sandboxId) >= uploadLimits.perSandbox) {
        throw new AppError(
          'upload/too-many',
          `${uploadLimits.perSandbox} uploads to this sandbox are not complete yet.`,
        )
      }
      const { place, there } = await locateTarget(sandboxId, path)
      if (there && !replace) throw new AppError('file/exists', `${path} already exists.`)
      if (there && there.type !== 'file') throw new AppError('file/not-a-file', `${path} is not a regular file.`)
      if (if_version !== undefined && there?.version !== if_version) {
        throw new AppError('file/changed', `${path} has changed since.`)
      }
      const id = UploadId.parse(`upl_${randomBytes(12).toString('hex')}`)
      const record: UploadRecord = {
        id,
        sandboxId,
        path,
        place,
        part: posix.join(posix.dirname(place), `.${id}.part`),
        size,
        received: 0,
        replaces: replace,
        ifVersion: if_version ?? null,
        sha256: sha256 ?? null,
        modifiedAtMs: modified_at === undefined ? null : Date.parse(modified_at),
        complete: false,
        touchedAtMs: now(),
      }
      await call('file.makeFolder', { sandboxId, path: posix.dirname(place) })
      records.add(record)
      try {
        const nothing = { sandboxId, path: record.part, offset: 0, truncate: true }
        await call('file.writeRange', nothing, { body: new Uint8Array() })
        return size === 0 ? await complete(record, AbortSignal.timeout(fileDeadlineMs)) : record
      } catch (error) {
        await forget(record).catch((cause: unknown) => log.warn('an upload stays', { id, error: cause }))
        throw error
      }
    },
    get: (sandboxId, id) => records.find(sandboxId, id) ?? missing(id),
    append,
    async cancel(record) {
      appending.get(record.id)?.stop()
      await appending.get(record.id)?.ended
      const present = records.find(record.sandboxId, record.id)
      if (present && !present.complete) await forget(present)
      else records.remove(record.id)
    },
    sweep,
    close: () => clearInterval(timer),
  }
}

/** Ends with the signal, however long nothing comes. */
async function* until(body: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  let stop = (): void => {}
  const onAbort = () => stop()
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    for (;;) {
      // Not a race with one lasting promise, which would hold on to every piece.
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

function missing(id: UploadId): never {
  throw new AppError('upload/not-found', `There is no upload ${id}.`)
}

function wrongOffset({ received }: UploadRecord): AppError {
  return new AppError('upload/offset', `The upload continues at ${received}.`, { detail: String(received) })
}
