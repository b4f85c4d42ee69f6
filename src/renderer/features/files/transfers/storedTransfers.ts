import { z } from 'zod'
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
  const key = buildKey(sandboxId)
  const read = (): StoredTransfer[] => {
    try {
      return z.array(TransferRecord).parse(JSON.parse(store.get(key) ?? '[]'))
    } catch {
      return [] // in an unknown format
    }
  }
  const write = (notes: readonly StoredTransfer[]) => {
    if (notes.length === 0) store.remove(key)
    else store.set(key, JSON.stringify(notes))
  }
  return {
    read,
    keep: (note) => write([...read().filter(({ id }) => id !== note.id), note]),
    forget: (id) => write(read().filter((it) => it.id !== id)),
  }
}

/** Removes the uploads to sandboxes that no longer exist. */
export function forgetOtherUploads(sandboxIds: readonly SandboxId[], store: TextStore = deviceStore): void {
  const listed = sandboxIds.map(buildKey)
  for (const key of store.keys()) if (key.startsWith(common) && !listed.includes(key)) store.remove(key)
}
