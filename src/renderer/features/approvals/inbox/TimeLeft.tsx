import { useSyncExternalStore } from 'react'
import { formatTimeLeft } from './timeLeft.ts'

/** Remaining time that updates periodically and re-renders only when its text changes. */
export function TimeLeft({ until }: { until: string }) {
  const untilMs = Date.parse(until)
  const text = useSyncExternalStore(subscribeEverySecond, () => formatTimeLeft(untilMs, Date.now()))
  return (
    <time dateTime={until} title={`Until ${new Date(until).toLocaleString()}`} className="shrink-0 tabular-nums">
      {text}
    </time>
  )
}

function subscribeEverySecond(listener: () => void): () => void {
  const timer = setInterval(listener, 1000)
  return () => clearInterval(timer)
}
