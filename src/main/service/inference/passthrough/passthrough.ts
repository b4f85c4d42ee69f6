import type { SseEvent } from '#platform/http/sseEvents.ts'
import type { CanonicalCompletion } from '../canonical/answer.ts'
import type { CanonicalRequest } from '../canonical/canonical.ts'
import type { FinishEvent, ResponseMeta, UsageReport } from '../dialects/dialect.ts'
import type { JsonObject } from '../json.ts'
import type { Target, UpstreamRequest } from '../upstreams/upstream.ts'

/**
 * Forwards a request in the provider's own dialect. Fields that the dialect's shape allows are unchanged, except for the
 * model name, the limits of the reservation and fields that the model does not support.
 */
export type Passthrough = {
  /** `body` contains only fields that the dialect allows; `request` is the parsed body with fetched images. */
  write(body: JsonObject, request: CanonicalRequest, target: Target): UpstreamRequest
  answer(body: JsonObject, answer: CanonicalCompletion, meta: ResponseMeta, bill: UsageReport): JsonObject
  relay(meta: ResponseMeta): PassthroughStream
}

/** Forwards a stream. The final event is written after the cost is known. */
export type PassthroughStream = {
  /** @returns the frame for the caller, or an empty string for errors and for events that `finish` replaces */
  push(event: SseEvent): string
  /**
   * Handles a run of events that differ only in their texts, as sent by the provider. If absent, events are pushed one
   * by one.
   */
  pushRun?(frames: string): string
  finish(event: FinishEvent, bill: UsageReport): string
}
