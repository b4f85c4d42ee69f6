import { useState } from 'react'
import type { TerminalList } from '#renderer/agent/terminals/terminalList.ts'
import { type Layout, reconcileLayout } from '../layout/tabLayout.ts'

/**
 * The layout with the terminals that there are. While one is being opened here, those not seen before wait: it would
 * stand in a tab of its own for a moment, before it goes where it belongs.
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
