import { useSyncExternalStore } from 'react'
import { formatTimeAgo } from './timeAgo.ts'

type TimeAgoProps = {
  at: string
  /** `5 min ago`, for the middle of a sentence. */
  spelled?: boolean
}

/** Updates itself, and renders only when the text changes. */
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
