import type { SseEvent } from '#platform/http/sseEvents.ts'
import type { CanonicalAnswer } from '../answer.ts'
import type { CanonicalRequest } from '../canonical.ts'
import type { FinishEvent, ResponseMeta, UsageReport } from '../dialects/dialect.ts'
import type { JsonObject } from '../json.ts'
import type { Target, UpstreamRequest } from '../upstreams/upstream.ts'

/**
 * Forwards a request in the provider's own dialect. Fields that the dialect's shape allows are unchanged, except for the
 * model name, the limits of the reservation and fields that the model does not support.
 */
export type Passthrough = {
  /** `body` has only fields that the dialect allows; `request` is the parsed body with fetched images. */
  write(body: JsonObject, request: CanonicalRequest, target: Target): UpstreamRequest
  answer(body: JsonObject, answer: CanonicalAnswer, meta: ResponseMeta, bill: UsageReport): JsonObject
  relay(meta: ResponseMeta): PassthroughStream
}

/** Passes a stream through. The final event is written once the cost is known. */
export type PassthroughStream = {
  /** @returns the frame for the caller; empty for what `finish` tells, and for errors */
  push(event: SseEvent): string
  /** The same for events that differ in nothing but their texts, as the provider sent them. Absent: one by one. */
  pushRun?(frames: string): string
  finish(event: FinishEvent, bill: UsageReport): string
}
