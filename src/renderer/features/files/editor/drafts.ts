import { z } from 'zod'
import { persistValue } from '#renderer/storage/persistValue.ts'
import { deviceStore, type TextStore } from '#renderer/storage/textStore.ts'
import type { SandboxId } from '#shared/ids.ts'

/** Unsaved text of a file, and the version it is based on. */
const Draft = z.object({ text: z.string(), version: z.string() })
export type Draft = z.infer<typeof Draft>

/** Unsaved text of the files of one sandbox, stored across page loads. */
export type Drafts = {
  paths(): string[]
  read(path: string): Draft | undefined
  /** Drops the draft if the storage is full. */
  keep(path: string, draft: Draft): void
  forget(path: string): void
}

const common = 'steward.draft.'
const buildPrefix = (sandboxId: string) => `${common}${sandboxId}:`

export function openDrafts(sandboxId: SandboxId, store: TextStore = deviceStore): Drafts {
  const prefix = buildPrefix(sandboxId)
  const open = (path: string) =>
    persistValue(prefix + path, Draft.optional(), undefined, { stores: [store], onRefusal: 'discard' })
  return {
    paths: () =>
      store
        .keys()
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length))
        .sort(),
    read: (path) => open(path).read(),
    keep: (path, draft) => open(path).write(draft),
    forget: (path) => open(path).clear(),
  }
}

/** Removes the drafts of sandboxes that no longer exist. */
export function forgetOtherDrafts(sandboxIds: readonly SandboxId[], store: TextStore = deviceStore): void {
  const prefixes = sandboxIds.map(buildPrefix)
  for (const key of store.keys()) {
    if (key.startsWith(common) && !prefixes.some((prefix) => key.startsWith(prefix))) store.remove(key)
  }
}
