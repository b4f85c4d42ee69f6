import type { Effort } from '#shared/modelFields.ts'
import type { InferenceError } from '../inferenceError.ts'
import type { JsonObject } from '../json.ts'

/** Canonical request between dialects and upstreams. Each of them translates only to or from this format. */
export type CanonicalRequest = {
  /** Steward's name of the model. */
  model: string
  stream: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice: ToolChoice | undefined
  parallelToolCalls: boolean | undefined
  /** Maximum tokens of the completion, including thinking. */
  maxOutputTokens: number | undefined
  sampling: Sampling
  stop: readonly string[]
  format: AnswerFormat | undefined
  reasoning: Reasoning | undefined
  /** Requested length of completions. */
  verbosity: 'low' | 'medium' | 'high' | undefined
  promptCacheKey: string | undefined
  /** Cache mark for the whole prompt, for providers that cache only on request. */
  cache: CacheMark | undefined
  user: string | undefined
  /** Requested features that no upstream supports, for `x-steward-warnings`. */
  warnings: string[]
}

export type Sampling = {
  temperature?: number
  topP?: number
  topK?: number
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
}

export type Reasoning = {
  effort?: Effort
  /** Token budget for thinking. */
  budgetTokens?: number
}

export type AnswerFormat =
  | { type: 'json' }
  | {
      type: 'schema'
      name: string
      description: string | undefined
      schema: JsonObject
      strict: boolean | undefined
    }

export type Turn = SystemTurn | UserTurn | AssistantTurn
export type SystemTurn = { role: 'system'; developer: boolean; parts: TextPart[] }
/** Results of parallel calls are parts of one turn. */
export type UserTurn = { role: 'user'; parts: (TextPart | ImagePart | FilePart | ToolResultPart)[] }
export type AssistantTurn = { role: 'assistant'; parts: AssistantPart[] }
export type AssistantPart = TextPart | ThinkingPart | RedactedPart | CallPart

/** Provider of a signature or of encrypted content. Only the same provider can read it. */
export type Origin = 'openai' | 'anthropic' | 'gemini'
export type Signature = { origin: Origin; value: string }

/** Requested cache TTL for the prompt up to this point. */
export type CacheMark = '5m' | '1h'

export type TextPart = { type: 'text'; text: string; signature?: Signature | undefined; cache?: CacheMark | undefined }
export type ImagePart = {
  type: 'image'
  source: ImageSource
  detail?: string | undefined
  cache?: CacheMark | undefined
  /** URL that Steward fetched the data from. */
  fetchedFrom?: string | undefined
}
export type ImageSource = { kind: 'data'; mediaType: string; base64: string } | { kind: 'url'; url: string }
export type FilePart = { type: 'file'; name: string | undefined; mediaType: string; base64: string }
/** `signature` matters even if the text is empty: some models sign thinking without revealing it. */
export type ThinkingPart = { type: 'thinking'; text: string; signature?: Signature | undefined }
/** Thinking that only its provider can read. */
export type RedactedPart = { type: 'redacted'; sealed: Signature }
export type CallPart = {
  type: 'call'
  id: string
  name: string
  /** JSON as the model wrote it, possibly malformed. */
  arguments: string
  signature?: Signature | undefined
}
export type ToolResultPart = {
  type: 'result'
  callId: string
  /** Name of the call that the result belongs to. */
  name: string
  parts: (TextPart | ImagePart)[]
  failed: boolean
  cache?: CacheMark | undefined
}

export type Tool = {
  name: string
  description: string | undefined
  /** JSON schema. */
  parameters: JsonObject | undefined
  strict: boolean | undefined
  cache?: CacheMark | undefined
}
export type ToolChoice = { type: 'auto' | 'none' | 'required' } | { type: 'tool'; name: string }

/**
 * Event of a streamed completion. `block` numbers the parts of the completion: deltas of one part share its number, and
 * a part ends when the next one begins. `usage` is cumulative: the last one counts. `finish` or `error` is the last
 * event.
 */
export type CanonicalEvent =
  | { type: 'start'; id: string | undefined }
  | { type: 'text'; block: number; text: string }
  | { type: 'refusal'; block: number; text: string }
  | { type: 'thinking'; block: number; text: string }
  /** Signs the thinking or text with that number. */
  | { type: 'signature'; block: number; signature: Signature }
  | { type: 'redacted'; block: number; sealed: Signature }
  | { type: 'call'; block: number; id: string; name: string; signature?: Signature | undefined }
  | { type: 'arguments'; block: number; text: string }
  | { type: 'usage'; usage: Usage }
  | { type: 'finish'; reason: FinishReason; native: string | undefined; stopSequence?: string | undefined }
  | { type: 'error'; error: InferenceError }

export type FinishReason = 'stop' | 'length' | 'calls' | 'filtered' | 'refused' | 'paused' | 'context_full'

/** Token counts. Cached and newly written tokens are not included in `input`; reasoning is included in `output`. */
export type Usage = {
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  reasoning: number
}

export function sumInput(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h
}
