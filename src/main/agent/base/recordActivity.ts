import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { Links, TaskId } from '#shared/contract/timelineLinks.ts'

/** Entry that a feature records. Contains no secrets; recording never fails the caller's work. */
export type NewActivityEntry = {
  /** `area.event` */
  kind: string
  actor: TimelineEntry['actor']
  subject?: string
  /** One plain sentence. */
  summary: string
  /**
   * Fields. Costs are summed per task: `cost_micro_usd` for models, `paid_micro_usdc` for payments in USDC,
   * `paid_test_micro_usdc` in test money, `charged_micro_usd` for credits spent on anything but models. Each cost is
   * recorded once, when it is final.
   */
  detail?: TimelineEntry['detail']
  /** Absent: the task of the intent or payment it links to, else the present one of `TaskContext`. */
  task?: TaskId
  /** Links added to those of the current task. */
  links?: Links
  /** Absent is now. */
  atMs?: number
  /** Time since the work began, in milliseconds: the entry gets the time of its beginning. */
  tookMs?: number
}

export type RecordActivity = (entry: NewActivityEntry) => void
