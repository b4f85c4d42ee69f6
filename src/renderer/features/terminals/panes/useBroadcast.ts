import { useRef, useState } from 'react'
import { listPaneIds } from '../layout/paneTree.ts'
import type { TabLayout } from '../layout/tabLayout.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import { isPointerOrFocusReport } from './isPointerOrFocusReport.ts'

export type Broadcast = {
  /** Terminals of the current tab that receive broadcast input; undefined if broadcasting is off. */
  ids: ReadonlySet<string> | undefined
  /** Starts broadcasting to all terminals of the current tab. */
  begin(): void
  end(): void
  /** Includes or excludes a terminal. */
  toggle(terminalId: string): void
  learn(terminalId: string, session: Pick<TerminalSession, 'type'> | undefined): void
  /** Forwards the user's input from one terminal to the others. */
  typed(terminalId: string, text: string): void
}

/**
 * Broadcasts typed input to several terminals. Each uses a separate input queue. Ends when its tab or the window is
 * closed.
 */
export function useBroadcast(tab: TabLayout | undefined): Broadcast {
  const [begun, setBegun] = useState<{ tabId: string; ids: ReadonlySet<string> }>()
  const sessions = useRef(new Map<string, Pick<TerminalSession, 'type'>>())
  const present = tab ? listPaneIds(tab.tree) : []
  const here = begun !== undefined && begun.tabId === tab?.id && present.length > 1
  const ids = here ? new Set(present.filter((id) => begun.ids.has(id))) : undefined
  return {
    ids,
    begin: () => tab && setBegun({ tabId: tab.id, ids: new Set(present) }),
    end: () => setBegun(undefined),
    toggle(id) {
      if (!ids || !tab) return
      const others = [...ids].filter((it) => it !== id)
      setBegun({ tabId: tab.id, ids: new Set(ids.has(id) ? others : [...others, id]) })
    },
    learn(id, session) {
      if (session) sessions.current.set(id, session)
      else sessions.current.delete(id)
    },
    typed(from, text) {
      if (!ids?.has(from) || isPointerOrFocusReport(text)) return
      for (const id of ids) if (id !== from) sessions.current.get(id)?.type(text)
    },
  }
}
