import type { TimelineEntry } from '../../shared/contract/timeline.ts'

/** What a slice tells the log. Nothing in it is a secret, and it never fails the work that it is about. */
export type NotedEntry = {
  /** `area.event` */
  kind: string
  actor: TimelineEntry['actor']
  subject?: string
  /** One plain sentence. */
  summary: string
  detail?: TimelineEntry['detail']
  /** Absent is now. */
  atMs?: number
}

export type Note = (entry: NotedEntry) => void
