import type { Agent } from '#renderer/api/agentClient.ts'
import { AppError } from '#shared/appError.ts'
import { appendUpload, beginUpload, cancelUpload, getUpload, uploadOffsetHeader } from '#shared/contract/uploads.ts'
import { createEmitter } from '#shared/emitter.ts'
import { type SandboxId, UploadId } from '#shared/ids.ts'
import type { TransferNotes } from './storedTransfers.ts'

export type TransferState = 'waiting' | 'sending' | 'lost' | 'paused' | 'asking' | 'failed' | 'needs-file' | 'done'

export type Transfer = {
  id: string
  path: string
  size: number
  modifiedAtMs: number
  sent: number
  /** While it is sent. */
  bytesPerSecond: number
  state: TransferState
  failure?: unknown
  uploadId?: UploadId | undefined
  replace: boolean
  /** File to upload; lost with the page. */
  file?: File | undefined
}

export type NewTransfer = { path: string; file: File }
export type Conflict = 'replace' | 'skip' | { path: string }

export type TransferQueue = {
  list(): readonly Transfer[]
  subscribe(listener: () => void): () => void
  add(files: readonly NewTransfer[]): void
  pause(id: string): void
  /** Also a failed one, from where it had come. */
  resume(id: string): void
  /** All that are paused, as after the disk was full. */
  resumeAll(): void
  /** Whether uploads wait until the user has freed space and resumes. */
  isDiskFull(): boolean
  cancel(id: string): void
  /** Resolves a conflict with an existing file. */
  settle(id: string, conflict: Conflict): void
  /** Resumes an upload of an earlier page. @returns false if it is a different file */
  giveFile(id: string, file: File): boolean
  forgetDone(): void
  close(): void
}

type Options = {
  sandboxId: SandboxId
  agent: Agent
  notes: TransferNotes
  onDone: (transfer: Transfer) => void
  newId: () => string
  now: () => number
}

/** At once: a machine is not faster with more. */
const maxSending = 3
/** Small, so that one sees how far it is. */
const pieceBytes = 2 * 1024 * 1024
const retryMs = [500, 1000, 2000, 4000] as const

/** Sends files to one sandbox. What was begun is remembered beyond the page, the files themselves cannot be. */
export function transferQueue({ sandboxId, agent, notes, onDone, newId, now }: Options): TransferQueue {
  let transfers: readonly Transfer[] = notes.read().map((note) => ({
    ...note,
    uploadId: UploadId.parse(note.uploadId),
    bytesPerSecond: 0,
    state: 'needs-file',
  }))
  const changes = createEmitter()
  const controls = new Map<string, AbortController>()
  let closed = false

  const publish = (next: readonly Transfer[]) => {
    transfers = next
    changes.emit()
  }
  const find = (id: string) => transfers.find((it) => it.id === id)
  const change = (id: string, changes: Partial<Transfer>): void => {
    publish(transfers.map((it) => (it.id === id ? { ...it, ...changes } : it)))
    const changed = find(id)
    if (changed) note(changed)
  }
  const note = ({ id, path, size, modifiedAtMs, sent, uploadId, replace, state }: Transfer): void => {
    if (uploadId === undefined || state === 'done') notes.forget(id)
    else notes.keep({ id, path, size, modifiedAtMs, sent, uploadId, replace })
  }

  /** Not given up: what was begun has to be known. */
  const begin = ({ path, size, modifiedAtMs, replace }: Transfer) => {
    const modified_at = new Date(modifiedAtMs).toISOString()
    return agent(beginUpload, { id: sandboxId, path, size, modified_at, replace })
  }

  /** Sends from the offset that the service reports. */
  const send = async (id: string, file: File, signal: AbortSignal): Promise<void> => {
    const transfer = find(id)
    if (!transfer) return
    const serverId = transfer.uploadId
    const upload =
      serverId === undefined
        ? await begin(transfer)
        : await agent(getUpload, { id: sandboxId, uploadId: serverId }, { signal })
    const uploadId = upload.upload_id
    let { offset, complete } = upload
    change(id, { uploadId, sent: offset })
    if (!find(id)) callOff(uploadId) // canceled concurrently
    signal.throwIfAborted()
    change(id, { state: 'sending' })
    while (!complete) {
      const startedAtMs = now()
      const bytes = file.slice(offset, offset + pieceBytes)
      const headers = { [uploadOffsetHeader]: String(offset) }
      const answer = await agent(appendUpload, { id: sandboxId, uploadId }, { signal, bytes, headers })
      const seconds = Math.max(1, now() - startedAtMs) / 1000
      const present = (answer.offset - offset) / seconds
      const before = find(id)?.bytesPerSecond ?? 0
      ;({ offset, complete } = answer)
      change(id, { sent: offset, bytesPerSecond: before === 0 ? present : before * 0.7 + present * 0.3 })
    }
    change(id, { state: 'done', bytesPerSecond: 0, file: undefined })
    const done = find(id)
    if (done) onDone(done)
  }

  const run = async (id: string, file: File): Promise<void> => {
    const control = new AbortController()
    controls.set(id, control)
    for (let failures = 0; ; failures++) {
      const before = find(id)?.sent ?? 0
      try {
        await send(id, file, control.signal)
        break
      } catch (error) {
        if (control.signal.aborted) break
        if ((find(id)?.sent ?? 0) > before) failures = 0
        if (!(await goesOn(id, error, failures, control.signal))) break
      }
    }
    if (controls.get(id) === control) controls.delete(id)
    pump()
  }

  const goesOn = async (id: string, failure: unknown, failures: number, signal: AbortSignal): Promise<boolean> => {
    const code = failure instanceof AppError ? failure.code : undefined
    if (code === 'file/exists') {
      change(id, { state: 'asking' })
      return false
    }
    if (code === 'upload/not-found') {
      change(id, { uploadId: undefined, sent: 0 })
      return failures < 3
    }
    if (code === 'file/no-space') {
      holdAll(failure)
      return false
    }
    const passing = code === 'service/unavailable' || code === 'host/unavailable' || code === 'upload/too-many'
    if (!passing && code !== 'upload/offset') {
      change(id, { state: 'failed', failure, bytesPerSecond: 0 })
      return false
    }
    if (passing) change(id, { state: 'lost', bytesPerSecond: 0 })
    await paused(retryMs[Math.min(failures, retryMs.length - 1)] ?? 0, signal)
    return !signal.aborted
  }

  const pump = (): void => {
    for (const { id, file } of transfers.filter(({ state }) => state === 'waiting')) {
      if (closed || controls.size >= maxSending) return
      if (!file) continue
      change(id, { state: 'sending' })
      void run(id, file)
    }
  }

  const stop = (id: string): void => {
    controls.get(id)?.abort()
    controls.delete(id)
  }

  /** The next file would fail as this one did. */
  const holdAll = (error: unknown): void => {
    for (const { id, state } of transfers) {
      if (state !== 'waiting' && state !== 'sending' && state !== 'lost') continue
      stop(id)
      change(id, { state: 'paused', failure: error, bytesPerSecond: 0 })
    }
  }

  const callOff = (uploadId: UploadId | undefined): void => {
    // Best effort: the service drops an upload after a day.
    if (uploadId !== undefined) agent(cancelUpload, { id: sandboxId, uploadId }).catch(() => {})
  }

  return {
    list: () => transfers,
    subscribe: changes.subscribe,
    add(files) {
      const added = files.map(({ path, file }): Transfer => {
        const { size, lastModified: modifiedAtMs } = file
        return {
          id: newId(),
          path,
          size,
          modifiedAtMs,
          sent: 0,
          bytesPerSecond: 0,
          state: 'waiting',
          replace: false,
          file,
        }
      })
      publish([...transfers, ...added])
      pump()
    },
    pause(id) {
      stop(id)
      change(id, { state: 'paused', bytesPerSecond: 0 })
    },
    resume(id) {
      change(id, { state: 'waiting', failure: undefined })
      pump()
    },
    resumeAll() {
      for (const { id, state } of transfers) {
        if (state === 'paused') change(id, { state: 'waiting', failure: undefined })
      }
      pump()
    },
    isDiskFull: () => transfers.some(({ failure }) => failure instanceof AppError && failure.code === 'file/no-space'),
    cancel(id) {
      stop(id)
      callOff(find(id)?.uploadId)
      publish(transfers.filter((it) => it.id !== id))
      notes.forget(id)
      pump()
    },
    settle(id, conflict) {
      if (conflict === 'skip') {
        callOff(find(id)?.uploadId)
        publish(transfers.filter((it) => it.id !== id))
        notes.forget(id)
        return
      }
      callOff(find(id)?.uploadId)
      const changes = conflict === 'replace' ? { replace: true } : { path: conflict.path }
      change(id, { ...changes, uploadId: undefined, sent: 0, state: 'waiting' })
      pump()
    },
    giveFile(id, file) {
      const transfer = find(id)
      const same = transfer?.size === file.size && transfer.modifiedAtMs === file.lastModified
      if (!transfer || !same) return false
      change(id, { file, state: 'waiting' })
      pump()
      return true
    },
    forgetDone: () => publish(transfers.filter(({ state }) => state !== 'done')),
    close() {
      closed = true
      for (const control of controls.values()) control.abort()
      changes.clear()
    },
  }
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
