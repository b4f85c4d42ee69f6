import { SquareTerminal } from 'lucide-react'
import type { Terminal } from '../../../../shared/contract/terminals.ts'
import { StatusDot } from '../../../ui/StatusDot.tsx'
import { endSentence, endTone } from '../view/endSentence.ts'

/** What a tab says without being opened: how it ended, or that something new is in it. */
export function TabMark({ terminal, isUnread }: { terminal: Terminal; isUnread: boolean }) {
  if (terminal.state === 'exited') {
    const end = { exitCode: terminal.exit_code, signal: terminal.signal }
    return <StatusDot tone={endTone(end)} label={endSentence(end)} />
  }
  if (isUnread) return <StatusDot tone="accent" label="New output" />
  return <SquareTerminal aria-hidden className="size-3.5 shrink-0 text-faint" />
}
