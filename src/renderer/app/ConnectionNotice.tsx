import { useConnection } from '../agent/AgentProvider.tsx'
import { StatusDot } from '../ui/StatusDot.tsx'
import { connectionWords } from './connectionWords.ts'

/** Above its own line of state, never in the way of the work: shown when the service has been away for a moment, gone when it is back. */
export function ConnectionNotice() {
  const connection = useConnection()
  if (!connection || connection.state === 'connected') return null
  const starting = connection.state === 'starting'
  return (
    <div className="animate-late pointer-events-none absolute bottom-3 left-3 z-30 w-66">
      <div role="status" className="flex items-start gap-2.5 rounded-card bg-raised px-3 py-2.5 shadow-popover">
        <span className="flex h-5 items-center">
          <StatusDot tone={connectionWords(connection).tone} pulsing />
        </span>
        <div className="min-w-0">
          <p className="font-medium">{starting ? 'The service is starting' : 'Connection lost'}</p>
          <p className="text-muted">{connection.detail ?? 'Your sandboxes keep running.'} Reconnecting…</p>
        </div>
      </div>
    </div>
  )
}
