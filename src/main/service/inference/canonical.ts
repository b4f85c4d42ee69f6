import type { Effort } from '#shared/modelFields.ts'
import type { InferenceError } from './inferenceError.ts'
import type { JsonObject } from './json.ts'

/** Canonical request that dialects and upstreams translate to and from. Each knows this format and no other. */
export type CanonicalRequest = {
  /** Our name of the model. */
  model: string
  stream: boolean
  turns: Turn[]
  tools: Tool[]
  toolChoice: ToolChoice | undefined
  parallelToolCalls: boolean | undefined
  /** The greatest number of tokens of the answer, thinking included. */
  maxOutputTokens: number | undefined
  sampling: Sampling
  stop: readonly string[]
  format: AnswerFormat | undefined
  reasoning: Reasoning | undefined
  /** Requested length of answers. */
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
  /** Tokens for thinking. */
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
/** The results of parallel calls are parts of one turn. */
export type UserTurn = { role: 'user'; parts: (TextPart | ImagePart | FilePart | ToolResultPart)[] }
export type AssistantTurn = { role: 'assistant'; parts: AssistantPart[] }
export type AssistantPart = TextPart | ThinkingPart | RedactedPart | CallPart

/** Whose signature or sealed text this is: only the same provider can read it. */
export type Origin = 'openai' | 'anthropic' | 'gemini'
export type Signature = { origin: Origin; value: string }

/** For how long the provider shall keep the prompt up to here. */
export type CacheMark = '5m' | '1h'

export type TextPart = { type: 'text'; text: string; signature?: Signature | undefined; cache?: CacheMark | undefined }
export type ImagePart = {
  type: 'image'
  source: ImageSource
  detail?: string | undefined
  cache?: CacheMark | undefined
  /** The address that the data came from, where Steward fetched it. */
  fetchedFrom?: string | undefined
}
export type ImageSource = { kind: 'data'; mediaType: string; base64: string } | { kind: 'url'; url: string }
export type FilePart = { type: 'file'; name: string | undefined; mediaType: string; base64: string }
/** `signature` of an empty text counts too: some models sign and do not tell. */
export type ThinkingPart = { type: 'thinking'; text: string; signature?: Signature | undefined }
/** Thinking that only its provider can read. */
export type RedactedPart = { type: 'redacted'; sealed: Signature }
export type CallPart = {
  type: 'call'
  id: string
  name: string
  /** JSON as the model wrote it; malformed, when the model did so. */
  arguments: string
  signature?: Signature | undefined
}
export type ToolResultPart = {
  type: 'result'
  callId: string
  /** Name of the call that it answers. */
  name: string
  parts: (TextPart | ImagePart)[]
  failed: boolean
  cache?: CacheMark | undefined
}

export type Tool = {
  name: string
  description: string | undefined
  /** A JSON schema. */
  parameters: JsonObject | undefined
  strict: boolean | undefined
  cache?: CacheMark | undefined
}
export type ToolChoice = { type: 'auto' | 'none' | 'required' } | { type: 'tool'; name: string }

/**
 * An answer, piece by piece. `block` counts the parts of the answer: pieces of one part have its number, and a part is
 * over when the next one begins. `usage` is cumulative: the last one counts. `finish` or `error` is the last event.
 */
export type CanonicalEvent =
  | { type: 'start'; id: string | undefined }
  | { type: 'text'; block: number; text: string }
  | { type: 'refusal'; block: number; text: string }
  | { type: 'thinking'; block: number; text: string }
  /** Of the thinking or the text with that number. */
  | { type: 'signature'; block: number; signature: Signature }
  | { type: 'redacted'; block: number; sealed: Signature }
  | { type: 'call'; block: number; id: string; name: string; signature?: Signature | undefined }
  | { type: 'arguments'; block: number; text: string }
  | { type: 'usage'; usage: Usage }
  | { type: 'finish'; reason: FinishReason; native: string | undefined; stopSequence?: string | undefined }
  | { type: 'error'; error: InferenceError }

export type FinishReason = 'stop' | 'length' | 'calls' | 'filtered' | 'refused' | 'paused' | 'context_full'

/** Tokens. Cached and newly written ones are counted beside `input`, reasoning within `output`. */
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
