import type { CanonicalCompletion } from '../canonical/answer.ts'
import type { CanonicalEvent, CanonicalRequest, Usage } from '../canonical/canonical.ts'
import type { InferenceError } from '../inferenceError.ts'
import type { JsonObject } from '../json.ts'
import type { FieldShape } from '../passthrough/fieldShape.ts'

/** Dialects of callers: OpenAI's chat completions and Responses, and Anthropic's Messages. */
export const dialectNames = ['chat', 'responses', 'messages'] as const
export type DialectName = (typeof dialectNames)[number]

/** Protocol of callers. Pure: makes no requests. */
export type Dialect = {
  name: DialectName
  /** Fields that are forwarded to a provider of the same dialect. */
  fields: FieldShape
  /** Top-level fields that survive translation to another dialect, or can be dropped without changing the meaning. */
  translatedFields: readonly string[]
  /** @throws InferenceError with the invalid field */
  read(body: JsonObject): CanonicalRequest
  writeAnswer(answer: CanonicalCompletion, meta: ResponseMeta, bill: UsageReport): JsonObject
  streamWriter(meta: ResponseMeta): StreamWriter
  writeFailure(error: InferenceError): JsonObject
}

export type ResponseMeta = {
  /** Id of the response, from which other ids are derived. */
  id: string
  model: string
  createdSeconds: number
  /** Returns the Unix time at which the completion ended. Default: the time at which it started. */
  nowSeconds?: () => number
  /** Estimated input tokens, for streams that report them before the provider does. */
  inputTokens?: number | undefined
  /** Original request. Responses repeat many of its fields. */
  requestBody: JsonObject
  /** Called with the output items of a response before its last bytes are sent. */
  onOutput?: ((output: readonly unknown[]) => void) | undefined
}

export type UsageReport = {
  usage: Usage
  cost: { micro_usd: number; currency: 'USD'; price_version: string; estimated: boolean }
  /** Warnings that arose during the response. */
  warnings: readonly string[]
}

/** Formats the events of a stream, each followed by a blank line. */
export type StreamWriter = {
  write(event: ContentEvent): string
  finish(event: FinishEvent, bill: UsageReport): string
  /** Returns an error frame in the caller's dialect, which ends the stream. */
  fail(error: InferenceError): string
}

export type FinishEvent = Extract<CanonicalEvent, { type: 'finish' }>
export type ContentEvent = Exclude<CanonicalEvent, { type: 'finish' | 'error' }>
