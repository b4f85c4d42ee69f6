import { useSyncExternalStore } from 'react'
import { formatTimeAgo } from './timeAgo.ts'

type TimeAgoProps = {
  at: string
  /** Whether to append `ago`, as in `5 min ago`, for use within a sentence. */
  spelled?: boolean
}

/** Relative time that updates periodically and re-renders only when its text changes. */
export function TimeAgo({ at, spelled = false }: TimeAgoProps) {
  const atMs = Date.parse(at)
  const text = useSyncExternalStore(subscribeEveryFewSeconds, () => formatTimeAgo(atMs, Date.now()))
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="shrink-0 text-small text-faint tabular-nums">
      {spelled ? spellOut(text) : text}
    </time>
  )
}

function spellOut(text: string): string {
  return text === 'now' ? 'just now' : `${text} ago`
}

function subscribeEveryFewSeconds(listener: () => void): () => void {
  const timer = setInterval(listener, 5_000)
  return () => clearInterval(timer)
}
