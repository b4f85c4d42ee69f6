import { BellRing, SquareTerminal } from 'lucide-react'
import type { Terminal } from '../../../../shared/contract/terminals.ts'
import { StatusDot } from '../../../ui/StatusDot.tsx'
import { useBell } from '../view/bell.ts'
import { endSentence, endTone } from '../view/endSentence.ts'

/** What a tab says without being opened: how it ended, that it calls, or that something new is in it. */
export function TabMark({ terminal, isUnread }: { terminal: Terminal; isUnread: boolean }) {
  const rings = useBell(terminal.session_id)
  if (terminal.state === 'exited') {
    const end = { exitCode: terminal.exit_code, signal: terminal.signal }
    return <StatusDot tone={endTone(end)} label={endSentence(end)} />
  }
  if (rings) return <BellRing role="img" aria-label="Its bell rang" className="size-3.5 shrink-0 text-caution" />
  if (isUnread) return <StatusDot tone="accent" label="New output" />
  return <SquareTerminal aria-hidden className="size-3.5 shrink-0 text-faint" />
}
