import { z } from 'zod'
import type { SandboxId } from '../../../../shared/ids.ts'

const Note = z.object({
  id: z.string(),
  path: z.string(),
  size: z.number(),
  modifiedAtMs: z.number(),
  sent: z.number(),
  uploadId: z.string().regex(/^upl_[0-9a-f]{24}$/),
  replace: z.boolean(),
})
export type TransferNote = z.infer<typeof Note>

/** Uploads that were begun, beyond the life of the page. */
export type TransferNotes = {
  read(): TransferNote[]
  keep(note: TransferNote): void
  forget(id: string): void
}

export function transferNotes(
  sandboxId: SandboxId,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): TransferNotes {
  const key = `steward.uploads.${sandboxId}`
  const read = (): TransferNote[] => {
    try {
      return z.array(Note).parse(JSON.parse(storage.getItem(key) ?? '[]'))
    } catch {
      return [] // written by something else
    }
  }
  const write = (notes: readonly TransferNote[]) => {
    if (notes.length === 0) storage.removeItem(key)
    else storage.setItem(key, JSON.stringify(notes))
  }
  return {
    read,
    keep: (note) => write([...read().filter(({ id }) => id !== note.id), note]),
    forget: (id) => write(read().filter((it) => it.id !== id)),
  }
}
