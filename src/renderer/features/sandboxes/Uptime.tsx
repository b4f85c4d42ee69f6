import { useSyncExternalStore } from 'react'
import { formatUptime } from './uptime.ts'

/** Uptime that updates periodically and re-renders only when its text changes. */
export function Uptime({ startedAt }: { startedAt: string }) {
  const startedAtMs = Date.parse(startedAt)
  const text = useSyncExternalStore(subscribeEverySecond, () => formatUptime(startedAtMs, Date.now()))
  return (
    <time dateTime={startedAt} title={`Running since ${new Date(startedAt).toLocaleString()}`} className="tabular-nums">
      {text}
    </time>
  )
}

function subscribeEverySecond(listener: () => void): () => void {
  const timer = setInterval(listener, 1_000)
  return () => clearInterval(timer)
}
