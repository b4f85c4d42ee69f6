import type { CanonicalEvent, FinishReason, Usage } from '../canonical/canonical.ts'
import { InferenceError, type InferenceErrorKind } from '../inferenceError.ts'
import { getCount, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import type { StreamReader } from './upstream.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  pause_turn: 'paused',
  refusal: 'refused',
  model_context_window_exceeded: 'context_full',
}

export function parseAnthropicAnswer(body: JsonObject): CanonicalEvent[] {
  if (body.type === 'error' || body.error) return [{ type: 'error', error: toAnthropicError(body) }]
  if (!Array.isArray(body.content))
    return [{ type: 'error', error: createUnusableError('The response has no content.') }]
  const usage = createUsageReader()
  return [
    { type: 'start', id: getString(body, 'id') },
    ...body.content.flatMap((block: unknown, index) => [...toBlockEvents(index, toJsonObject(block) ?? {})]),
    ...usage.take(body.usage),
    toFinish(body),
  ]
}

/** Maximum length of tool inputs that were not streamed, in characters. */
const maxWholeChars = 8 * 1024 * 1024

export function createAnthropicStreamReader(): StreamReader {
  const usage = createUsageReader()
  /** Inputs that were complete at the start of their block. */
  const whole = new Map<number, string>()
  let wholeChars = 0
  let ended = false

  function readEvent(event: JsonObject): CanonicalEvent[] {
    const index = getCount(event, 'index') ?? 0
    switch (event.type) {
      case 'message_start': {
        const message = getObject(event, 'message')
        return [{ type: 'start', id: getString(message, 'id') }, ...usage.take(message.usage)]
      }
      case 'content_block_start': {
        const block = getObject(event, 'content_block')
        const input = toJsonObject(block.input)
        if (block.type === 'tool_use' && input && Object.keys(input).length > 0) {
          const text = JSON.stringify(input)
          wholeChars += text.length
          if (wholeChars > maxWholeChars)
            return [{ type: 'error', error: createUnusableError('The tool calls are too long.') }]
          whole.set(index, text)
        }
        return [...blockStart(index, block)]
      }
      case 'content_block_delta':
        return [...toDelta(index, getObject(event, 'delta'), whole)]
      case 'content_block_stop': {
        const text = whole.get(index)
        return text === undefined ? [] : [{ type: 'arguments', block: index, text }]
      }
      case 'message_delta': {
        const counted = usage.take(event.usage)
        if (getString(getObject(event, 'delta'), 'stop_reason') === undefined) return counted
        ended = true
        return [...counted, toFinish(getObject(event, 'delta'))]
      }
      case 'error':
        return [{ type: 'error', error: toAnthropicError(event) }]
      default:
        // Errors of intermediate servers that use other formats.
        return toJsonObject(event.error) ? [{ type: 'error', error: toAnthropicError(event) }] : []
    }
  }

  return {
    push({ data }) {
      const event = parseJsonObject(data)
      return event
        ? readEvent(event)
        : [{ type: 'error', error: createUnusableError('An event of the stream is not valid JSON.') }]
    },
    end() {
      if (ended) return []
      return [
        {
          type: 'error',
          error: new InferenceError('upstream', 'The provider ended its response early.', { reason: 'cut' }),
        },
      ]
    },
  }
}

function* toBlockEvents(index: number, block: JsonObject): Generator<CanonicalEvent> {
  yield* blockStart(index, block)
  if (block.type === 'tool_use') yield { type: 'arguments', block: index, text: JSON.stringify(block.input ?? {}) }
}

/** Includes text and signature that the start already contains. */
function* blockStart(index: number, block: JsonObject): Generator<CanonicalEvent> {
  switch (block.type) {
    case 'text': {
      const text = getString(block, 'text') ?? ''
      if (text !== '') yield { type: 'text', block: index, text }
      break
    }
    case 'thinking': {
      yield { type: 'thinking', block: index, text: getString(block, 'thinking') ?? '' }
      const value = getString(block, 'signature')
      if (value) yield { type: 'signature', block: index, signature: { origin: 'anthropic', value } }
      break
    }
    case 'redacted_thinking':
      yield { type: 'redacted', block: index, sealed: { origin: 'anthropic', value: getString(block, 'data') ?? '' } }
      break
    case 'tool_use':
      yield { type: 'call', block: index, id: getString(block, 'id') ?? '', name: getString(block, 'name') ?? '' }
      break
  }
}

function* toDelta(index: number, delta: JsonObject, whole: Map<number, string>): Generator<CanonicalEvent> {
  switch (delta.type) {
    case 'text_delta':
      yield { type: 'text', block: index, text: getString(delta, 'text') ?? '' }
      break
    case 'thinking_delta':
      yield { type: 'thinking', block: index, text: getString(delta, 'thinking') ?? '' }
      break
    case 'signature_delta':
      yield {
        type: 'signature',
        block: index,
        signature: { origin: 'anthropic', value: getString(delta, 'signature') ?? '' },
      }
      break
    case 'input_json_delta': {
      const text = getString(delta, 'partial_json') ?? ''
      if (text !== '') whole.delete(index)
      yield { type: 'arguments', block: index, text }
      break
    }
  }
}

function toFinish(fields: JsonObject): CanonicalEvent {
  const native = getString(fields, 'stop_reason')
  const stopSequence = getString(fields, 'stop_sequence')
  return { type: 'finish', reason: reasons[native ?? 'end_turn'] ?? 'stop', native, stopSequence }
}

/** Counts are cumulative: the last reported value of each counts, even if it is 0. */
export function createUsageReader() {
  const counts = new Map<string, number>()
  const names = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'] as const
  return {
    take(value: unknown): CanonicalEvent[] {
      if (!toJsonObject(value)) return []
      for (const name of names) {
        const count = getCount(value, name)
        if (count !== undefined) counts.set(name, count)
      }
      const written = getObject(value, 'cache_creation')
      for (const name of ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens']) {
        const count = getCount(written, name)
        if (count !== undefined) counts.set(name, count)
      }
      const thinking = getCount(getObject(value, 'output_tokens_details'), 'thinking_tokens')
      if (thinking !== undefined) counts.set('thinking_tokens', thinking)
      return [{ type: 'usage', usage: toUsage(counts) }]
    },
  }
}

/** Cache writes are reported in total, and usually by TTL. The rest of the total counts as 5 minutes. */
function toUsage(counts: ReadonlyMap<string, number>): Usage {
  const count = (name: string) => counts.get(name) ?? 0
  const sum = count('cache_creation_input_tokens')
  const hour = count('ephemeral_1h_input_tokens')
  return {
    input: count('input_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite5m: counts.has('cache_creation_input_tokens')
      ? Math.max(0, sum - Math.min(hour, sum))
      : count('ephemeral_5m_input_tokens'),
    cacheWrite1h: counts.has('cache_creation_input_tokens') ? Math.min(hour, sum) : hour,
    output: count('output_tokens'),
    reasoning: count('thinking_tokens'),
  }
}

const kinds: Readonly<Record<string, InferenceErrorKind>> = {
  overloaded_error: 'overloaded',
  rate_limit_error: 'rate',
  invalid_request_error: 'request',
  request_too_large: 'too_large',
  timeout_error: 'timeout',
}

function toAnthropicError(body: JsonObject): InferenceError {
  const error = getObject(body, 'error')
  const type = getString(error, 'type')
  const message = getString(error, 'message') ?? 'The provider returned an error.'
  return new InferenceError(kinds[type ?? ''] ?? 'upstream', message, { reason: type })
}

function createUnusableError(why: string): InferenceError {
  return new InferenceError('upstream', `The provider sent an invalid response. ${why}`, {
    reason: 'unusable',
  })
}
