import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { Links, TaskId } from '#shared/contract/timelineLinks.ts'

/** Entry that a feature records. Contains no secrets. A recording error never fails the caller's work. */
export type NewActivityEntry = {
  /** `area.event` */
  kind: string
  actor: TimelineEntry['actor']
  subject?: string
  /** Summary in one plain sentence. */
  summary: string
  /**
   * Fields. Costs are summed per task: `cost_micro_usd` for models, `paid_micro_usdc` for payments in USDC,
   * `paid_test_micro_usdc` in test money, `charged_micro_usd` for credits spent on anything but models. Each cost is
   * recorded once, when it is final.
   */
  detail?: TimelineEntry['detail']
  /** Defaults to the task of the linked intent or payment, or else to the current one of `TaskContext`. */
  task?: TaskId
  /** Links added to those of the current task. */
  links?: Links
  /** Defaults to the current time. */
  atMs?: number
  /** Duration of the work, in milliseconds. The entry gets the start time. */
  tookMs?: number
}

export type RecordActivity = (entry: NewActivityEntry) => void
