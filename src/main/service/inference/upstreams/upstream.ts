import type { SseEvent } from '#platform/http/sseEvents.ts'
import type { CanonicalEvent, CanonicalRequest } from '../canonical/canonical.ts'
import type { CatalogueModel } from '../catalogue/catalogueModel.ts'
import type { InferenceError } from '../inferenceError.ts'
import type { JsonObject } from '../json.ts'
import type { TextRun } from './textChunks.ts'

/** Wire adapter of one kind of provider: writes requests and reads responses. Pure: makes no network requests. */
export type Upstream = {
  /** @throws InferenceError if the request uses a feature that this provider does not support */
  write(request: CanonicalRequest, target: Target): UpstreamRequest
  /** Reads a complete response with a success status, which may still contain an error. */
  readAnswer(body: JsonObject, options: ReaderOptions): CanonicalEvent[]
  streamReader(options: ReaderOptions): StreamReader
  readFailure(error: UpstreamErrorResponse): InferenceError
}

/** Model of a request, with the limit of its reservation. */
export type Target = {
  model: CatalogueModel
  /** Output tokens that the reservation covers. */
  maxOutputTokens: number
}

export type UpstreamRequest = {
  /** Path below the base URL, such as `/chat/completions`. */
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
  /** Whether the response is an event stream. May differ from the caller's request. */
  stream: boolean
  /** Warnings of changed or dropped fields. */
  warnings: string[]
}

export type ReaderOptions = {
  /** Creates ids for calls without one. */
  newCallId: () => string
}

export type StreamReader = {
  push(event: SseEvent): CanonicalEvent[]
  /** Returns the events at this position that differ from the previous ones only in their text. Default: none. */
  runIn?(text: string, from: number): TextRun | undefined
  /** Returns a run as one event. */
  pushRun?(run: TextRun): CanonicalEvent
  /**
   * Called after the provider has ended the stream. Emits the end of the completion, or an error if it is incomplete.
   */
  end(): CanonicalEvent[]
}

export type UpstreamErrorResponse = { status: number; body: string; retryAfter: string | undefined }
