import type { CanonicalEvent, FinishReason, Usage } from '../canonical/canonical.ts'
import { InferenceError } from '../inferenceError.ts'
import { getCount, getList, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import type { StreamReader } from './upstream.ts'

const incomplete: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
}

export function parseResponsesUpstreamAnswer(body: JsonObject): CanonicalEvent[] {
  if (!Array.isArray(body.output) || body.error || body.status === 'failed') {
    return [{ type: 'error', error: readError(body) }]
  }
  const items = createItemReader()
  return [
    { type: 'start', id: getString(body, 'id') },
    ...getList(body, 'output').flatMap((item, index) => items.whole(index, toJsonObject(item) ?? {})),
    ...toEnd(body),
  ]
}

export function createResponsesUpstreamStreamReader(): StreamReader {
  const items = createItemReader()
  let ended = false

  function readEvent(event: JsonObject): CanonicalEvent[] {
    const index = getCount(event, 'output_index') ?? 0
    switch (event.type) {
      case 'response.created':
        return [{ type: 'start', id: getString(event.response, 'id') }]
      case 'response.output_item.added':
        return items.begun(index, getObject(event, 'item'))
      case 'response.output_text.delta':
        return items.text('text', `${index} ${getCount(event, 'content_index') ?? 0}`, getString(event, 'delta') ?? '')
      case 'response.refusal.delta':
        return items.text(
          'refusal',
          `${index} ${getCount(event, 'content_index') ?? 0}`,
          getString(event, 'delta') ?? '',
        )
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta': {
        const part = getCount(event, 'summary_index') ?? getCount(event, 'content_index') ?? 0
        return items.text('thinking', `${index} thinking ${part}`, getString(event, 'delta') ?? '')
      }
      case 'response.function_call_arguments.delta':
        return items.arguments(index, getString(event, 'delta') ?? '')
      case 'response.output_item.done':
        return items.done(index, getObject(event, 'item'))
      case 'response.completed':
      case 'response.incomplete':
        ended = true
        return toEnd(getObject(event, 'response'))
      case 'response.failed':
        return [{ type: 'error', error: readError(getObject(event, 'response')) }]
      case 'error':
        return [{ type: 'error', error: readError(event.error ? event : { error: event }) }]
      default:
        return event.error ? [{ type: 'error', error: readError(event) }] : []
    }
  }

  return {
    push({ data }) {
      const event = parseJsonObject(data)
      if (event) return readEvent(event)
      const error = new InferenceError('upstream', 'The provider sent an event that is not valid JSON.', {
        reason: 'unusable',
      })
      return [{ type: 'error', error }]
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

/** Numbers the parts of items in the order in which they begin. */
function createItemReader() {
  const blocks = new Map<string, number>()
  const withArguments = new Set<number>()
  let last = -1

  function getBlock(key: string): number {
    const existing = blocks.get(key)
    if (existing !== undefined) return existing
    last += 1
    blocks.set(key, last)
    return last
  }

  function text(type: 'text' | 'refusal' | 'thinking', key: string, piece: string): CanonicalEvent[] {
    return piece === '' ? [] : [{ type, block: getBlock(key), text: piece }]
  }

  function begun(index: number, item: JsonObject): CanonicalEvent[] {
    if (item.type !== 'function_call' || blocks.has(`${index} call`)) return []
    const id = getString(item, 'call_id') ?? ''
    return [{ type: 'call', block: getBlock(`${index} call`), id, name: getString(item, 'name') ?? '' }]
  }

  function args(index: number, piece: string): CanonicalEvent[] {
    if (piece === '') return []
    withArguments.add(index)
    return [{ type: 'arguments', block: getBlock(`${index} call`), text: piece }]
  }

  /** Emits content that the deltas omitted: complete arguments and encrypted content. */
  function done(index: number, item: JsonObject): CanonicalEvent[] {
    if (item.type === 'function_call') {
      const call = begun(index, item)
      return withArguments.has(index) ? call : [...call, ...args(index, getString(item, 'arguments') ?? '')]
    }
    if (item.type !== 'reasoning' || typeof item.encrypted_content !== 'string') return []
    const sealed = { origin: 'openai' as const, value: JSON.stringify(item) }
    return [{ type: 'redacted', block: getBlock(`${index} sealed`), sealed }]
  }

  function whole(index: number, item: JsonObject): CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    for (const [part, content] of getList(item, 'content').entries()) {
      const refusal = getString(content, 'refusal')
      const type = item.type === 'reasoning' ? 'thinking' : refusal === undefined ? 'text' : 'refusal'
      const key = type === 'thinking' ? `${index} thinking ${part}` : `${index} ${part}`
      events.push(...text(type, key, refusal ?? getString(content, 'text') ?? ''))
    }
    for (const [part, summary] of getList(item, 'summary').entries()) {
      events.push(...text('thinking', `${index} thinking ${part}`, getString(summary, 'text') ?? ''))
    }
    return [...events, ...done(index, item)]
  }

  return { text, begun, arguments: args, done, whole }
}

function toEnd(response: JsonObject): CanonicalEvent[] {
  const usage = readUsage(response.usage)
  const why = getString(getObject(response, 'incomplete_details'), 'reason')
  const native = why ?? getString(response, 'status')
  const reason = why === undefined ? 'stop' : (incomplete[why] ?? 'length')
  return [...(usage ? [{ type: 'usage' as const, usage }] : []), { type: 'finish', reason, native }]
}

function readUsage(value: unknown): Usage | undefined {
  const input = getCount(value, 'input_tokens')
  const output = getCount(value, 'output_tokens')
  if (input === undefined && output === undefined) return undefined
  const cacheRead = getCount(getObject(value, 'input_tokens_details'), 'cached_tokens') ?? 0
  const written = getCount(getObject(value, 'input_tokens_details'), 'cache_write_tokens') ?? 0
  return {
    input: Math.max(0, (input ?? 0) - cacheRead - written),
    cacheRead,
    cacheWrite5m: written,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: getCount(getObject(value, 'output_tokens_details'), 'reasoning_tokens') ?? 0,
  }
}

function readError(body: JsonObject): InferenceError {
  const error = getObject(body, 'error')
  const message = getString(error, 'message') ?? 'The provider returned an error.'
  const code = getString(error, 'code') ?? getString(error, 'type')
  return new InferenceError(code === 'rate_limit_exceeded' ? 'rate' : 'upstream', message, { reason: code })
}
