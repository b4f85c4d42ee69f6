import { z } from 'zod'
import { persistValue } from '#renderer/storage/persistValue.ts'
import { deviceStore, type TextStore } from '#renderer/storage/textStore.ts'
import type { SandboxId } from '#shared/ids.ts'

const TransferRecord = z.object({
  id: z.string(),
  path: z.string(),
  size: z.number(),
  modifiedAtMs: z.number(),
  sent: z.number(),
  uploadId: z.string().regex(/^upl_[0-9a-f]{24}$/),
  replace: z.boolean(),
})
export type StoredTransfer = z.infer<typeof TransferRecord>

/** Uploads that were started, stored across page loads. */
export type TransferStore = {
  read(): StoredTransfer[]
  keep(note: StoredTransfer): void
  forget(id: string): void
}

const common = 'steward.uploads.'
const buildKey = (sandboxId: SandboxId) => `${common}${sandboxId}`

export function transferNotes(sandboxId: SandboxId, store: TextStore = deviceStore): TransferStore {
  const { read, write, clear } = persistValue(buildKey(sandboxId), z.array(TransferRecord), [], { stores: [store] })
  const replace = (transfers: StoredTransfer[]) => (transfers.length === 0 ? clear() : write(transfers))
  return {
    read,
    keep: (note) => replace([...read().filter(({ id }) => id !== note.id), note]),
    forget: (id) => replace(read().filter((it) => it.id !== id)),
  }
}

/** Removes the uploads to sandboxes that no longer exist. */
export function forgetOtherUploads(sandboxIds: readonly SandboxId[], store: TextStore = deviceStore): void {
  const listed = sandboxIds.map(buildKey)
  for (const key of store.keys()) if (key.startsWith(common) && !listed.includes(key)) store.remove(key)
}
