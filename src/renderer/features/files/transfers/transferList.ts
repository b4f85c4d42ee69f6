import { createEmitter } from '#shared/emitter.ts'
import { UploadId } from '#shared/ids.ts'
import type { TransferStore } from './storedTransfers.ts'

export type TransferState = 'waiting' | 'sending' | 'lost' | 'paused' | 'asking' | 'failed' | 'needs-file' | 'done'

export type Transfer = {
  id: string
  path: string
  size: number
  modifiedAtMs: number
  sent: number
  /** Set while the upload is in progress. */
  bytesPerSecond: number
  state: TransferState
  failure?: unknown
  uploadId?: UploadId | undefined
  replace: boolean
  /** File to upload. Lost when the page unloads. */
  file?: File | undefined
}

export type TransferList = {
  /** Returns the same array until a transfer changes. */
  list(): readonly Transfer[]
  find(id: string): Transfer | undefined
  subscribe(listener: () => void): () => void
  add(transfers: readonly Transfer[]): void
  change(id: string, changes: Partial<Transfer>): void
  remove(id: string): void
  removeDone(): void
  close(): void
}

/** Transfers of one sandbox. Started transfers are persisted in `notes`. */
export function createTransferList(notes: TransferStore): TransferList {
  let transfers: readonly Transfer[] = notes.read().map((note) => ({
    ...note,
    uploadId: UploadId.parse(note.uploadId),
    bytesPerSecond: 0,
    state: 'needs-file',
  }))
  const changes = createEmitter()

  const publish = (next: readonly Transfer[]) => {
    transfers = next
    changes.emit()
  }
  const find = (id: string) => transfers.find((it) => it.id === id)
  const store = ({ id, path, size, modifiedAtMs, sent, uploadId, replace, state }: Transfer): void => {
    if (uploadId === undefined || state === 'done') notes.forget(id)
    else notes.keep({ id, path, size, modifiedAtMs, sent, uploadId, replace })
  }

  return {
    list: () => transfers,
    find,
    subscribe: changes.subscribe,
    add: (added) => publish([...transfers, ...added]),
    change(id, changes) {
      publish(transfers.map((transfer) => (transfer.id === id ? { ...transfer, ...changes } : transfer)))
      const changed = find(id)
      if (changed) store(changed)
    },
    remove(id) {
      publish(transfers.filter((it) => it.id !== id))
      notes.forget(id)
    },
    removeDone: () => publish(transfers.filter(({ state }) => state !== 'done')),
    close: () => changes.clear(),
  }
}
