import { parseJson } from '#platform/parsing/boundedJson.ts'
import type { CanonicalEvent, FinishReason, Usage } from '../canonical/canonical.ts'
import { InferenceError } from '../inferenceError.ts'
import { getCount, getList, getObject, getString, type JsonObject, toJsonObject } from '../json.ts'
import type { ReaderOptions, StreamReader } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
}
/** Finish reasons for malformed calls. */
const malformedCallReasons: readonly string[] = [
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
]

export function parseGeminiAnswer(body: JsonObject, options: ReaderOptions): CanonicalEvent[] {
  const reader = createGeminiReader(options)
  return [...reader.take(body), reader.end()]
}

export function createGeminiStreamReader(options: ReaderOptions): StreamReader {
  const reader = createGeminiReader(options)
  return {
    push({ data }) {
      let chunk: unknown
      try {
        chunk = parseJson(data)
      } catch {
        return [{ type: 'error', error: createUnusableError('An event of the stream is not valid JSON.', 'unusable') }]
      }
      return reader.take(toJsonObject(Array.isArray(chunk) ? chunk[0] : chunk) ?? {})
    },
    end: () => [reader.end()],
  }
}

/** Reads chunks, which have the format of a complete response. The end may follow the last part in a separate chunk. */
function createGeminiReader({ newCallId }: ReaderOptions) {
  let started = false
  let block = -1
  let kind: string | undefined
  let native: string | undefined
  let blocked: InferenceError | undefined
  let currentKind = ''
  let counted: JsonObject = {}

  function getBlock(type: string): number {
    if (kind !== type) block += 1
    kind = type
    return block
  }

  function ofPart(part: JsonObject): CanonicalEvent[] {
    const call = toJsonObject(part.functionCall)
    const text = getString(part, 'text')
    const value = getString(part, 'thoughtSignature')
    if (call) {
      const index = getBlock('call')
      kind = undefined
      const id = getString(call, 'id') || newCallId()
      const signature = value ? { origin: 'gemini' as const, value } : undefined
      return [
        { type: 'call', block: index, id, name: getString(call, 'name') ?? '', signature },
        { type: 'arguments', block: index, text: JSON.stringify(call.args ?? {}) },
      ]
    }
    if (text === undefined || (text === '' && !value)) return []
    const partKind = part.thought === true ? 'thinking' : 'text'
    const index = getBlock(partKind)
    if (!value) return [{ type: partKind, block: index, text }]
    // The signature does not cover subsequent parts.
    kind = undefined
    return [
      { type: partKind, block: index, text },
      { type: 'signature', block: index, signature: { origin: 'gemini', value } },
    ]
  }

  function take(body: JsonObject): CanonicalEvent[] {
    if (body.error) return [{ type: 'error', error: readError(body) }]
    const events: CanonicalEvent[] = started ? [] : [{ type: 'start', id: getString(body, 'responseId') }]
    started = true
    const feedback = getObject(body, 'promptFeedback')
    const blockReason = getString(feedback, 'blockReason')
    if (blockReason !== undefined)
      blocked = createBlockedPromptError(blockReason, getString(feedback, 'blockReasonMessage'))
    const candidate = toJsonObject(getList(body, 'candidates')[0])
    for (const part of getList(getObject(candidate, 'content'), 'parts'))
      events.push(...ofPart(toJsonObject(part) ?? {}))
    const metadata = toJsonObject(body.usageMetadata)
    if (metadata) {
      // Counts are cumulative, and a chunk may omit unchanged ones.
      counted = { ...counted, ...metadata }
      events.push({ type: 'usage', usage: toUsage(counted) })
    }
    native = getString(candidate, 'finishReason') ?? native
    currentKind = getString(candidate, 'finishMessage') ?? currentKind
    return events
  }

  function end(): CanonicalEvent {
    if (blocked) return { type: 'error', error: blocked }
    if (native === undefined) {
      const error = started
        ? createUnusableError('The response ended early.', 'cut')
        : createUnusableError('The response is empty.', 'unusable')
      return { type: 'error', error }
    }
    if (malformedCallReasons.includes(native)) {
      const error = createUnusableError(
        `The model made an invalid tool call: ${native}. ${currentKind}`.trimEnd(),
        native,
      )
      return { type: 'error', error }
    }
    if (block < 0 && native !== 'MAX_TOKENS') {
      const filtered = reasons[native] === 'filtered'
      const error = filtered
        ? createBlockedPromptError(native, currentKind)
        : createUnusableError(`The response is empty. The model stopped with ${native}.`, native)
      return { type: 'error', error }
    }
    return { type: 'finish', reason: reasons[native] ?? 'stop', native }
  }

  return { take, end }
}

/** The prompt includes cached tokens. Thoughts are not included in the output. */
function toUsage(usage: JsonObject): Usage {
  const prompt = (getCount(usage, 'promptTokenCount') ?? 0) + (getCount(usage, 'toolUsePromptTokenCount') ?? 0)
  const cacheRead = getCount(usage, 'cachedContentTokenCount') ?? 0
  const reasoning = getCount(usage, 'thoughtsTokenCount') ?? 0
  return {
    input: Math.max(0, prompt - cacheRead),
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: (getCount(usage, 'candidatesTokenCount') ?? 0) + reasoning,
    reasoning,
  }
}

function readError(body: JsonObject): InferenceError {
  const status = getCount(body.error, 'code') ?? 500
  return toUpstreamError({ status: status < 400 ? 502 : status, body: JSON.stringify(body), retryAfter: undefined })
}

function createBlockedPromptError(reason: string, message = ''): InferenceError {
  const sentence = `The provider blocked this request: ${reason}. ${message}`.trimEnd()
  return new InferenceError('request', sentence, { reason: 'content_filter' })
}

function createUnusableError(why: string, code: string): InferenceError {
  return new InferenceError('upstream', `The provider sent an invalid response. ${why}`, { reason: code })
}
