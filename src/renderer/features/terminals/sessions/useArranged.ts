import { useState } from 'react'
import type { TerminalList } from '#renderer/api/terminals/terminalList.ts'
import { type Layout, reconcileLayout } from '../layout/tabLayout.ts'

/**
 * Returns the layout with the present terminals. While one is being opened here, new ones wait: otherwise it would
 * briefly appear in a separate tab before moving to its position.
 */
export function useArranged(
  layout: Layout,
  { terminals, creating }: { terminals: TerminalList; creating: boolean },
): Layout {
  const ids = terminals.map(({ session_id }) => session_id)
  const [settled, setSettled] = useState<readonly string[]>(ids)
  if (!creating && settled.join() !== ids.join()) setSettled(ids)
  return reconcileLayout(layout, creating ? ids.filter((id) => settled.includes(id)) : ids)
}
