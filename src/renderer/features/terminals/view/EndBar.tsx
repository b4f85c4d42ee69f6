import { RotateCw, X } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { Kbd } from '#renderer/ui/Kbd.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { TerminalEnd } from '../stream/streamState.ts'
import { endSentence, endTone } from './endSentence.ts'

type EndBarProps = {
  end: TerminalEnd
  onAgain?: (() => void) | undefined
  onAllAgain?: (() => void) | undefined
  onClose?: (() => void) | undefined
}

export function EndBar({ end, onAgain, onAllAgain, onClose }: EndBarProps) {
  return (
    <section
      aria-label="Terminal ended"
      className="flex h-11 shrink-0 items-center gap-2.5 border-t border-line bg-panel pr-2 pl-3"
    >
      <StatusDot tone={endTone(end)} />
      <p role="status" className="min-w-0 flex-1 truncate text-text">
        {endSentence(end)}
      </p>
      {onAllAgain && (
        <Button size="small" variant="ghost" onClick={onAllAgain}>
          Restart all
        </Button>
      )}
      {onAgain && (
        <Button size="small" icon={RotateCw} onClick={onAgain}>
          Restart
          <Kbd shortcut="enter" />
        </Button>
      )}
      {onClose && (
        <Button size="small" variant="ghost" icon={X} onClick={onClose}>
          Close
        </Button>
      )}
    </section>
  )
}
