import { Radio } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { broadcastKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { Kbd } from '#renderer/ui/Kbd.tsx'

/** Notice shown while input is broadcast to several panes. */
export function BroadcastBar({ count, onEnd }: { count: number; onEnd: () => void }) {
  return (
    <div className="flex h-9 shrink-0 items-center gap-2.5 border-b border-line bg-caution-soft pr-1.5 pl-3">
      <Radio aria-hidden className="size-4 shrink-0 animate-breathe text-caution" />
      <p role="status" className="min-w-0 flex-1 truncate text-text">
        {count === 1 ? 'Your input goes to 1 terminal.' : `Your input goes to ${count} terminals.`}
      </p>
      <Kbd shortcut={broadcastKeys} />
      <Button size="small" onClick={onEnd}>
        Stop broadcasting
      </Button>
    </div>
  )
}
