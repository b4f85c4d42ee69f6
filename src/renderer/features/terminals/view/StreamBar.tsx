import { Button } from '#renderer/ui/Button.tsx'
import type { StreamState } from '../stream/streamState.ts'

type StreamBarProps = { state: StreamState; onRetry: () => void }

/** A thin line above the last row. It waits a moment before it shows: most gaps are over before they are seen. */
export function StreamBar({ state, onRetry }: StreamBarProps) {
  const sentence = describeStream(state)
  return (
    <div role="status" className="pointer-events-none absolute inset-x-0 bottom-0 z-10 flex justify-center">
      {sentence && (
        <div className="animate-fade pointer-events-auto mb-3 flex h-8 items-center gap-2 rounded-full bg-raised pr-1.5 pl-3 text-small text-muted shadow-popover [animation-delay:400ms] [animation-fill-mode:both]">
          <span aria-hidden className="animate-breathe size-1.5 rounded-full bg-caution" />
          <span className="pr-1.5">{sentence}</span>
          {state.phase === 'reconnecting' && state.attempt > 2 && (
            <Button size="small" variant="ghost" className="h-6 rounded-full" onClick={onRetry}>
              Try now
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

function describeStream(state: StreamState): string | undefined {
  if (state.phase === 'connecting') return 'Connecting…'
  if (state.phase === 'gone') return state.reason === '' ? 'This terminal no longer exists.' : state.reason
  if (state.phase !== 'reconnecting') return undefined
  if (state.refusing) return 'Reconnecting… Some of your input was dropped.'
  return state.holding ? 'Reconnecting… Your input is kept.' : 'Reconnecting…'
}
