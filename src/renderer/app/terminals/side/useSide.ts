import { useState } from 'react'
import { z } from 'zod'
import { persistValue } from '#renderer/storage/persistValue.ts'
import { usePersistedState } from '#renderer/storage/usePersisted.ts'
import { type SidePanel, sidePanels } from '../sidePanels.ts'

const StoredSide = z.object({ open: z.boolean(), tabId: z.string().optional() })
const storedSide = persistValue<z.infer<typeof StoredSide>>('steward.terminals.side', StoredSide, { open: false })

export type Side = {
  open: boolean
  /** Selected tab, visible while the panel is open; undefined if there are no tabs. */
  tab: SidePanel | undefined
  setOpen(open: boolean): void
  show(tabId: string): void
}

/**
 * Returns the persisted state of the side panel.
 * @param floats whether the panel would cover the terminals; it then opens only on request
 */
export function useSide(floats: boolean): Side {
  const [stored, change] = usePersistedState(storedSide)
  const [isRequested, setRequested] = useState(false)
  return {
    open: stored.open && (!floats || isRequested),
    tab: sidePanels.find(({ id }) => id === stored.tabId) ?? sidePanels[0],
    setOpen(open) {
      setRequested(open)
      change((prev) => ({ ...prev, open }))
    },
    show(tabId) {
      setRequested(true)
      change(() => ({ open: true, tabId }))
    },
  }
}
