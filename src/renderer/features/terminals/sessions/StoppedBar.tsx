import { Play } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { getStatusTone } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { describeState } from './stateSentence.ts'

/** Above the terminals of a sandbox that does not run: they can still be read. */
export function StoppedBar({ sandbox, onStart }: { sandbox: Sandbox; onStart: () => void }) {
  const starting = sandbox.status === 'provisioning'
  return (
    <div className="flex h-9 shrink-0 items-center gap-2.5 border-b border-line bg-panel pr-1.5 pl-3">
      <StatusDot tone={getStatusTone(sandbox.status)} pulsing={starting} />
      <p role="status" className="min-w-0 flex-1 truncate text-text">
        {describeState(sandbox)}
      </p>
      <Button size="small" icon={Play} busy={starting} onClick={onStart}>
        Start
      </Button>
    </div>
  )
}
