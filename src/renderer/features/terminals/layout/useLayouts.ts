import { useState } from 'react'
import { z } from 'zod'
import { Layout } from './tabLayout.ts'

const storageKey = 'steward.terminals.layout'
const Kept = z.object({ version: z.literal(1), sandboxes: z.record(z.string(), Layout) })
type Layouts = z.infer<typeof Kept>['sandboxes']

export type ChangeLayout = (sandboxId: string, change: (layout: Layout) => Layout) => void

/** The layout of each sandbox: it outlives a reload in its own window, and opens the next window. */
export function useLayouts(): {
  layoutOf(sandboxId: string): Layout
  change: ChangeLayout
  forget(sandboxId: string): void
} {
  const [layouts, setLayouts] = useState(keptLayouts)
  const set = (changed: (before: Layouts) => Layouts) =>
    setLayouts((before) => {
      const after = changed(before)
      if (after !== before) keep(after)
      return after
    })
  return {
    layoutOf: (sandboxId) => layouts[sandboxId] ?? [],
    change: (sandboxId, change) =>
      set((before) => {
        const layout = before[sandboxId] ?? []
        const after = change(layout)
        return after === layout ? before : { ...before, [sandboxId]: [...after] }
      }),
    forget: (sandboxId) => set(({ [sandboxId]: _, ...others }) => others),
  }
}

function keptLayouts(): Layouts {
  return parsed(sessionStorage.getItem(storageKey)) ?? parsed(localStorage.getItem(storageKey)) ?? {}
}

function keep(sandboxes: Layouts): void {
  const written = JSON.stringify({ version: 1, sandboxes } satisfies z.infer<typeof Kept>)
  sessionStorage.setItem(storageKey, written)
  localStorage.setItem(storageKey, written)
}

function parsed(written: string | null): Layouts | undefined {
  if (written === null) return undefined
  try {
    return Kept.safeParse(JSON.parse(written)).data?.sandboxes
  } catch {
    return undefined // not JSON: terminals stand in tabs of their own
  }
}
