import type { TimelineEntry } from '#shared/contract/timeline.ts'
import type { Links, TaskId } from '#shared/contract/timelineLinks.ts'

/** What a slice tells the log. Nothing in it is a secret, and it never fails the work that it is about. */
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
  /** What it leads to, beside the links of the present task. */
  links?: Links
  /** Absent is now. */
  atMs?: number
  /** Time since the work began, in milliseconds: the entry gets the time of its beginning. */
  tookMs?: number
}

export type RecordActivity = (entry: NewActivityEntry) => void
