import { useState } from 'react'
import { z } from 'zod'
import { type SidePanel, sidePanels } from '../sidePanels.ts'

const storageKey = 'steward.terminals.side'
const Kept = z.object({ open: z.boolean(), tabId: z.string().optional() })
type Kept = z.infer<typeof Kept>

export type Side = {
  open: boolean
  /** The one in view while it is open; undefined when there is none at all. */
  tab: SidePanel | undefined
  setOpen(open: boolean): void
  show(tabId: string): void
}

/** Whether the panel beside the terminals is open, and with what; as the person left it. */
export function useSide(): Side {
  const [kept, setKept] = useState(readKept)
  const change = (next: Kept) => {
    localStorage.setItem(storageKey, JSON.stringify(next))
    setKept(next)
  }
  return {
    open: kept.open,
    tab: sidePanels.find(({ id }) => id === kept.tabId) ?? sidePanels[0],
    setOpen: (open) => change({ ...kept, open }),
    show: (tabId) => change({ open: true, tabId }),
  }
}

function readKept(): Kept {
  try {
    return Kept.parse(JSON.parse(localStorage.getItem(storageKey) ?? 'null'))
  } catch {
    return { open: false } // never opened, or written by something else
  }
}
