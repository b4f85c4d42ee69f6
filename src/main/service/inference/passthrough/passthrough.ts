import type { SseEvent } from '#platform/http/sseEvents.ts'
import type { InnerAnswer } from '../answer.ts'
import type { Bill, FinishEvent, ResponseMeta } from '../dialects/dialect.ts'
import type { InnerRequest } from '../innerForm.ts'
import type { Loose } from '../looseJson.ts'
import type { Target, UpstreamRequest } from '../upstreams/upstream.ts'

/**
 * Forwards a request in the provider's own dialect. Fields that the dialect's shape allows are unchanged, except for the
 * model name, the limits of the reservation and fields that the model does not support.
 */
export type RawPass = {
  /** `body` has only fields that the dialect allows; `request` is the parsed body with fetched images. */
  write(body: Loose, request: InnerRequest, target: Target): UpstreamRequest
  answer(body: Loose, answer: InnerAnswer, meta: ResponseMeta, bill: Bill): Loose
  relay(meta: ResponseMeta): RawRelay
}

/** Passes a stream through. The final event is written once the cost is known. */
export type RawRelay = {
  /** @returns the frame for the caller; empty for what `finish` tells, and for errors */
  push(event: SseEvent): string
  /** The same for events that differ in nothing but their texts, as the provider sent them. Absent: one by one. */
  pushRun?(frames: string): string
  finish(event: FinishEvent, bill: Bill): string
}
