import type { SseEvent } from '#platform/http/sseEvents.ts'
import type { CanonicalEvent, CanonicalRequest } from '../canonical.ts'
import type { CatalogueModel } from '../catalogueModel.ts'
import type { InferenceError } from '../inferenceError.ts'
import type { JsonObject } from '../json.ts'
import type { TextRun } from './textChunks.ts'

/** One kind of provider: how it is asked, and how its answers are read. Pure: nothing here touches the network. */
export type Upstream = {
  /** @throws InferenceError where the request means something that this provider cannot do */
  write(request: CanonicalRequest, target: Target): UpstreamRequest
  /** Reads a complete response with a success status, which may still contain an error. */
  readAnswer(body: JsonObject, options: ReaderOptions): CanonicalEvent[]
  /** Creates a reader for a streamed response. */
  streamReader(options: ReaderOptions): StreamReader
  readFailure(error: UpstreamFailure): InferenceError
}

/** Request and its limits. */
export type Target = {
  model: CatalogueModel
  /** Output tokens that the reservation covers. */
  maxOutputTokens: number
}

export type UpstreamRequest = {
  /** Below the base URL, as `/chat/completions`. */
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
  /** Whether the answer comes in events, which may differ from what the caller asked for. */
  stream: boolean
  /** Warnings of changed or dropped fields. */
  warnings: string[]
}

export type ReaderOptions = {
  /** For calls that the provider gave no id. */
  newCallId: () => string
}

export type StreamReader = {
  push(event: SseEvent): CanonicalEvent[]
  /** Returns the events from here on that differ from the previous ones only in their text. Default: none. */
  runIn?(text: string, from: number): TextRun | undefined
  /** All of a run, as one event. */
  pushRun?(run: TextRun): CanonicalEvent
  /** Called when the provider has ended the stream: emits the end of the answer, or an error if it is incomplete. */
  end(): CanonicalEvent[]
}

export type UpstreamFailure = { status: number; body: string; retryAfter: string | undefined }
