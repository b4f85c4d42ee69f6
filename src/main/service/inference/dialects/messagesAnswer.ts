import { formatSseFrame } from '#platform/http/sseEvents.ts'
import type { CanonicalCompletion, CompletionPart } from '../canonical/answer.ts'
import { type FinishReason, sumInput, type Usage } from '../canonical/canonical.ts'
import type { InferenceError, InferenceErrorKind } from '../inferenceError.ts'
import { type JsonObject, omitUndefined, parseJsonObject } from '../json.ts'
import type { ContentEvent, FinishEvent, ResponseMeta, StreamWriter, UsageReport } from './dialect.ts'
import { sealParts } from './sealParts.ts'

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filtered: 'refusal',
  refused: 'refusal',
  paused: 'pause_turn',
  context_full: 'model_context_window_exceeded',
}

/** @see https://docs.anthropic.com/en/api/messages */
export function toMessagesAnswer(answer: CanonicalCompletion, meta: ResponseMeta, bill: UsageReport): JsonObject {
  return omitUndefined({
    id: meta.id,
    type: 'message',
    role: 'assistant',
    model: meta.model,
    content: answer.parts.flatMap(toBlocks),
    stop_reason: stopReason(answer),
    stop_sequence: answer.stopSequence ?? null,
    native_finish_reason: answer.native,
    usage: toMessagesUsage(bill),
  })
}

function stopReason({ reason, stopSequence }: Pick<CanonicalCompletion, 'reason' | 'stopSequence'>): string {
  return reason === 'stop' && stopSequence !== undefined ? 'stop_sequence' : reasons[reason]
}

function toBlocks(part: CompletionPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return [
        ...(part.text === '' ? [] : [{ type: 'text', text: part.text }]),
        ...(part.signature ? [toSealedBlock(part.signature, 'text')] : []),
      ]
    case 'refusal':
      return [{ type: 'text', text: part.text }]
    case 'thinking':
      return [{ type: 'thinking', thinking: part.text, signature: formatSignature(part.signature) }]
    case 'redacted':
      return [toRedactedBlock(part.sealed)]
    case 'call': {
      const input = parseJsonObject(part.arguments) ?? { INVALID_JSON: part.arguments }
      const block = { type: 'tool_use', id: part.id, name: part.name, input }
      return part.signature ? [toSealedBlock(part.signature, 'call'), block] : [block]
    }
  }
}

type Signature = { origin: string; value: string }

/** Formats the field that callers return unchanged, even for unsigned thinking. */
function formatSignature(signature: Signature | undefined): string {
  return signature?.origin === 'anthropic' ? signature.value : sealParts([])
}

function toRedactedBlock(sealed: Parameters<typeof toSealedBlock>[0]): JsonObject {
  const data = sealed.origin === 'anthropic' ? sealed.value : sealParts([{ type: 'redacted', sealed }])
  return { type: 'redacted_thinking', data }
}

function toSealedBlock(
  signature: NonNullable<Extract<ContentEvent, { type: 'signature' }>['signature']>,
  target: 'call' | 'text',
): JsonObject {
  return { type: 'redacted_thinking', data: sealParts([{ type: 'signature', of: target, signature }]) }
}

export function toMessagesUsage({ usage, cost, warnings }: UsageReport): JsonObject {
  return omitUndefined({
    ...toTokenCounts(usage),
    cost,
    warnings: warnings.length > 0 ? warnings : undefined,
  })
}

/** As Anthropic counts: cached tokens are not included in the input. */
function toTokenCounts(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 }

/** @see https://docs.anthropic.com/en/docs/build-with-claude/streaming */
export function createMessagesStreamWriter(meta: ResponseMeta): StreamWriter {
  let begun = false
  let usage = nothing
  let index = -1
  /** Part of the completion whose block is open. */
  let open: number | undefined
  let openType: string | undefined
  let signed = false

  const frame = (data: JsonObject & { type: string }) => formatSseFrame(data, data.type)

  function begin(): string {
    if (begun) return ''
    begun = true
    const message = {
      id: meta.id,
      type: 'message',
      role: 'assistant',
      model: meta.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toTokenCounts(sumInput(usage) > 0 ? usage : { ...usage, input: meta.inputTokens ?? 0 }),
    }
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' })
  }

  function close(): string {
    if (open === undefined) return ''
    open = undefined
    // Every thinking block has a signature, because callers send it back.
    const signature =
      openType === 'thinking' && !signed ? delta({ type: 'signature_delta', signature: sealParts([]) }) : ''
    return signature + frame({ type: 'content_block_stop', index })
  }

  function start(block: number, content: JsonObject & { type: string }): string {
    const before = begin() + close()
    index += 1
    open = block
    openType = content.type
    signed = false
    return before + frame({ type: 'content_block_start', index, content_block: content })
  }

  const delta = (fields: JsonObject) => frame({ type: 'content_block_delta', index, delta: fields })

  /** Formats a block that is complete immediately. */
  const whole = (block: JsonObject & { type: string }) => start(-1, block) + close()

  function writeEvent(event: ContentEvent): string {
    switch (event.type) {
      case 'text':
      case 'refusal': {
        if (event.text === '') return ''
        const before = open === event.block ? '' : start(event.block, { type: 'text', text: '' })
        return before + delta({ type: 'text_delta', text: event.text })
      }
      case 'thinking': {
        const before = open === event.block ? '' : start(event.block, { type: 'thinking', thinking: '', signature: '' })
        return event.text === '' ? before : before + delta({ type: 'thinking_delta', thinking: event.text })
      }
      case 'signature':
        if (open === event.block && openType === 'thinking') {
          signed = true
          return delta({ type: 'signature_delta', signature: formatSignature(event.signature) })
        }
        return whole(toSealedBlock(event.signature, 'text') as JsonObject & { type: string })
      case 'redacted':
        return whole(toRedactedBlock(event.sealed) as JsonObject & { type: string })
      case 'call': {
        const before = event.signature
          ? whole(toSealedBlock(event.signature, 'call') as JsonObject & { type: string })
          : ''
        return before + start(event.block, { type: 'tool_use', id: event.id, name: event.name, input: {} })
      }
      case 'arguments':
        return event.text === '' ? '' : delta({ type: 'input_json_delta', partial_json: event.text })
      case 'usage':
        usage = event.usage
        return ''
      case 'start':
        return ''
    }
  }

  return {
    write: writeEvent,
    finish(event: FinishEvent, bill: UsageReport) {
      const fields = omitUndefined({
        stop_reason: stopReason({ reason: event.reason, stopSequence: event.stopSequence }),
        stop_sequence: event.stopSequence ?? null,
        native_finish_reason: event.native,
      })
      const end = frame({ type: 'message_delta', delta: fields, usage: toMessagesUsage(bill) })
      return begin() + close() + end + frame({ type: 'message_stop' })
    },
    fail: (error) => formatSseFrame(toMessagesError(error), 'error'),
  }
}

const types: Readonly<Record<InferenceErrorKind, string>> = {
  request: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  model: 'not_found_error',
  too_large: 'request_too_large',
  credits: 'billing_error',
  unconfigured: 'api_error',
  rate: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  upstream: 'api_error',
}

/** @see https://docs.anthropic.com/en/api/errors */
export function toMessagesError(error: InferenceError): JsonObject {
  return {
    type: 'error',
    error: omitUndefined({ type: types[error.kind], message: error.message, code: error.reason, param: error.param }),
    ...(error.detail !== undefined && { detail: error.detail }),
  }
}
