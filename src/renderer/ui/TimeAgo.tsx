import { useSyncExternalStore } from 'react'
import { timeAgo } from './timeAgo.ts'

/** Ticks by itself, and is drawn again only when it reads differently. */
export function TimeAgo({ at }: { at: string }) {
  const atMs = Date.parse(at)
  const text = useSyncExternalStore(everyFewSeconds, () => timeAgo(atMs, Date.now()))
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="shrink-0 text-small text-faint tabular-nums">
      {text}
    </time>
  )
}

function everyFewSeconds(listener: () => void): () => void {
  const timer = setInterval(listener, 5_000)
  return () => clearInterval(timer)
}
