import { z } from 'zod'
import type { SandboxId } from '../../../../shared/ids.ts'

/** What was written to a file and not saved, and the version of the file that it began with. */
const Draft = z.object({ text: z.string(), version: z.string() })
export type Draft = z.infer<typeof Draft>

/** Unsaved text of the files of one sandbox, beyond the life of the page. */
export type Drafts = {
  paths(): string[]
  read(path: string): Draft | undefined
  /** Where there is no room for it, it is not kept. */
  keep(path: string, draft: Draft): void
  forget(path: string): void
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>

export function drafts(sandboxId: SandboxId, storage: Store): Drafts {
  const prefix = `steward.draft.${sandboxId}:`
  return {
    paths: () =>
      Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '')
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
        .sort(),
    read(path) {
      try {
        return Draft.parse(JSON.parse(storage.getItem(prefix + path) ?? 'null'))
      } catch {
        return undefined // there is none, or it was written by something else
      }
    },
    keep(path, draft) {
      try {
        storage.setItem(prefix + path, JSON.stringify(draft))
      } catch {
        storage.removeItem(prefix + path) // an older one would be taken for it
      }
    },
    forget: (path) => storage.removeItem(prefix + path),
  }
}
