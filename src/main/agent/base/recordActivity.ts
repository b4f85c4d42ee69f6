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
   * Fields. What something cost is summed for its task: `cost_micro_usd` what a model cost, `paid_micro_usdc` what was paid
   * with USDC and `paid_test_micro_usdc` with test money, `charged_micro_usd` what was taken from the credits for anything but models; each once, where it is final.
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
