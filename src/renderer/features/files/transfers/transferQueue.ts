import { AppError } from '#shared/appError.ts'
import type { TransferStore } from './storedTransfers.ts'
import { createTransferList, type Transfer } from './transferList.ts'
import { createTransferRunner } from './transferRunner.ts'
import { createUploader, type UploaderOptions } from './uploader.ts'

export type NewTransfer = { path: string; file: File }
export type Conflict = 'replace' | 'skip' | { path: string }

export type TransferQueue = {
  list(): readonly Transfer[]
  subscribe(listener: () => void): () => void
  add(files: readonly NewTransfer[]): void
  pause(id: string): void
  /** Resumes a paused or failed upload from its last offset. */
  resume(id: string): void
  /** Resumes all paused uploads, for example after the disk was full. */
  resumeAll(): void
  /** Whether uploads are paused until the user has freed disk space and resumes them. */
  isDiskFull(): boolean
  cancel(id: string): void
  /** Resolves a conflict with an existing file. */
  settle(id: string, conflict: Conflict): void
  /** Resumes an upload of an earlier page load. @returns false if the file differs */
  giveFile(id: string, file: File): boolean
  forgetDone(): void
  close(): void
}

type Options = UploaderOptions & { notes: TransferStore; newId: () => string }

/** Uploads files to one sandbox. Started uploads are persisted across page loads, without the files. */
export function createTransferQueue({ notes, newId, ...upload }: Options): TransferQueue {
  const transfers = createTransferList(notes)
  const uploader = createUploader(transfers, upload)
  const runner = createTransferRunner(transfers, uploader)
  const { find, change } = transfers
  return {
    list: transfers.list,
    subscribe: transfers.subscribe,
    add(files) {
      transfers.add(files.map((file) => createTransfer(newId(), file)))
      runner.start()
    },
    pause(id) {
      runner.stop(id)
      change(id, { state: 'paused', bytesPerSecond: 0 })
    },
    resume(id) {
      change(id, { state: 'waiting', failure: undefined })
      runner.start()
    },
    resumeAll() {
      for (const { id, state } of transfers.list()) {
        if (state === 'paused') change(id, { state: 'waiting', failure: undefined })
      }
      runner.start()
    },
    isDiskFull: () =>
      transfers.list().some(({ failure }) => failure instanceof AppError && failure.code === 'file/no-space'),
    cancel(id) {
      runner.stop(id)
      uploader.cancel(find(id)?.uploadId)
      transfers.remove(id)
      runner.start()
    },
    settle(id, conflict) {
      uploader.cancel(find(id)?.uploadId)
      if (conflict === 'skip') {
        transfers.remove(id)
        return
      }
      const changes = conflict === 'replace' ? { replace: true } : { path: conflict.path }
      change(id, { ...changes, uploadId: undefined, sent: 0, state: 'waiting' })
      runner.start()
    },
    giveFile(id, file) {
      const transfer = find(id)
      const same = transfer?.size === file.size && transfer.modifiedAtMs === file.lastModified
      if (!transfer || !same) return false
      change(id, { file, state: 'waiting' })
      runner.start()
      return true
    },
    forgetDone: transfers.removeDone,
    close() {
      runner.close()
      transfers.close()
    },
  }
}

function createTransfer(id: string, { path, file }: NewTransfer): Transfer {
  const { size, lastModified: modifiedAtMs } = file
  return { id, path, size, modifiedAtMs, sent: 0, bytesPerSecond: 0, state: 'waiting', replace: false, file }
}
