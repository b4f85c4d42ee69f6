import { z } from 'zod'
import { persistValue, perWindow } from '#renderer/storage/persistValue.ts'
import { usePersistedState } from '#renderer/storage/usePersisted.ts'
import { Layout } from './tabLayout.ts'

const Stored = z.object({ version: z.literal(1), sandboxes: z.record(z.string(), Layout) })
type StoredLayouts = z.infer<typeof Stored>['sandboxes']

const storedLayouts = persistValue('steward.terminals.layout', Stored, { version: 1, sandboxes: {} }, perWindow)

export type ChangeLayout = (sandboxId: string, change: (layout: Layout) => Layout) => void

export type Layouts = {
  layoutOf(sandboxId: string): Layout
  change: ChangeLayout
  /** Removes the layouts of all other sandboxes. */
  keep(sandboxIds: readonly string[]): void
}

/** Persisted layout of each sandbox. Survives a reload, and initializes the next window. */
export function useLayouts(): Layouts {
  const [stored, changeStored] = usePersistedState(storedLayouts)
  const set = (change: (prev: StoredLayouts) => StoredLayouts) =>
    changeStored((prev) => {
      const sandboxes = change(prev.sandboxes)
      return sandboxes === prev.sandboxes ? prev : { ...prev, sandboxes }
    })
  return {
    layoutOf: (sandboxId) => stored.sandboxes[sandboxId] ?? [],
    change: (sandboxId, change) =>
      set((prev) => {
        const layout = prev[sandboxId] ?? []
        const next = change(layout)
        return next === layout ? prev : { ...prev, [sandboxId]: [...next] }
      }),
    keep: (sandboxIds) =>
      set((prev) => {
        const entries = Object.entries(prev)
        const listed = entries.filter(([id]) => sandboxIds.includes(id))
        return listed.length === entries.length ? prev : Object.fromEntries(listed)
      }),
  }
}
