import { useRef, useState } from 'react'
import { listPaneIds } from '../layout/paneTree.ts'
import type { TabLayout } from '../layout/tabLayout.ts'
import type { TerminalSession } from '../view/terminalSession.ts'
import { isForItself } from './isForItself.ts'

export type Broadcast = {
  /** The terminals of the present tab that receive; undefined while there is no broadcast. */
  ids: ReadonlySet<string> | undefined
  /** To all terminals of the present tab. */
  begin(): void
  end(): void
  /** Takes a terminal in, or leaves it out. */
  toggle(terminalId: string): void
  learn(terminalId: string, session: Pick<TerminalSession, 'type'> | undefined): void
  /** The person typed this into a terminal, which has it already. */
  typed(terminalId: string, text: string): void
}

/** Typing into several terminals at once; each takes it through its own queue. It ends with its tab and with the window. */
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
      if (!ids?.has(from) || isForItself(text)) return
      for (const id of ids) if (id !== from) sessions.current.get(id)?.type(text)
    },
  }
}
