import { BellRing, SquareTerminal } from 'lucide-react'
import type { ReactNode } from 'react'
import { useAttentionRequests } from '#renderer/api/terminals/attentionRequests.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { Terminal } from '#shared/contract/terminals.ts'
import { useBell } from '../view/bell.ts'
import { describeEnd, endSentence, endTone } from '../view/endSentence.ts'
import type { TerminalTabsState } from './useTerminalTabs.ts'

type TabMarkProps = { terminal: Terminal; isUnread: boolean; sandboxRuns: boolean }

/** Mark of a tab: exit state, notification or new output. */
export function TabMark({ terminal, isUnread, sandboxRuns }: TabMarkProps) {
  const rings = useBell(terminal.session_id)
  const call = useAttentionRequests().find(({ terminalId }) => terminalId === terminal.session_id)
  const end = describeEnd(terminal, sandboxRuns)
  if (end) return <StatusDot tone={endTone(end)} label={endSentence(end)} />
  if (call || rings) {
    const label = call?.text ? `Needs you: ${call.text}` : 'The bell rang'
    return <BellRing role="img" aria-label={label} className="size-3.5 shrink-0 text-caution" />
  }
  if (isUnread) return <StatusDot tone="accent" label="New output" />
  return <SquareTerminal aria-hidden className="size-3.5 shrink-0 text-faint" />
}

export function renderTabMark({ byId, marks, running }: TerminalTabsState, terminalId: string): ReactNode {
  const terminal = byId.get(terminalId)
  return terminal && <TabMark terminal={terminal} isUnread={marks.unread.has(terminalId)} sandboxRuns={running} />
}
