import { InferenceError } from '../inferenceError.ts'
import type { FinishReason, InnerEvent, Usage } from '../innerForm.ts'
import { countAt, type Loose, listAt, looseObject, objectAt, parseJsonObject, textAt } from '../looseJson.ts'
import type { StreamReader } from './upstream.ts'

const incomplete: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'length',
  max_tokens: 'length',
  content_filter: 'filtered',
}

export function responsesUpstreamAnswer(body: Loose): InnerEvent[] {
  if (!Array.isArray(body.output) || body.error || body.status === 'failed') {
    return [{ type: 'error', error: errorIn(body) }]
  }
  const items = itemReader()
  return [
    { type: 'start', id: textAt(body, 'id') },
    ...listAt(body, 'output').flatMap((item, index) => items.whole(index, looseObject(item) ?? {})),
    ...toEnd(body),
  ]
}

export function createResponsesUpstreamStreamReader(): StreamReader {
  const items = itemReader()
  let ended = false

  function readEvent(event: Loose): InnerEvent[] {
    const index = countAt(event, 'output_index') ?? 0
    switch (event.type) {
      case 'response.created':
        return [{ type: 'start', id: textAt(event.response, 'id') }]
      case 'response.output_item.added':
        return items.begun(index, objectAt(event, 'item'))
      case 'response.output_text.delta':
        return items.text('text', `${index} ${countAt(event, 'content_index') ?? 0}`, textAt(event, 'delta') ?? '')
      case 'response.refusal.delta':
        return items.text('refusal', `${index} ${countAt(event, 'content_index') ?? 0}`, textAt(event, 'delta') ?? '')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta': {
        const part = countAt(event, 'summary_index') ?? countAt(event, 'content_index') ?? 0
        return items.text('thinking', `${index} thinking ${part}`, textAt(event, 'delta') ?? '')
      }
      case 'response.function_call_arguments.delta':
        return items.arguments(index, textAt(event, 'delta') ?? '')
      case 'response.output_item.done':
        return items.done(index, objectAt(event, 'item'))
      case 'response.completed':
      case 'response.incomplete':
        ended = true
        return toEnd(objectAt(event, 'response'))
      case 'response.failed':
        return [{ type: 'error', error: errorIn(objectAt(event, 'response')) }]
      case 'error':
        return [{ type: 'error', error: errorIn(event.error ? event : { error: event }) }]
      default:
        return event.error ? [{ type: 'error', error: errorIn(event) }] : []
    }
  }

  return {
    push({ data }) {
      const event = parseJsonObject(data)
      if (event) return readEvent(event)
      const error = new InferenceError('upstream', 'The provider sent an event that is no JSON.', {
        reason: 'unusable',
      })
      return [{ type: 'error', error }]
    },
    end() {
      if (ended) return []
      return [
        {
          type: 'error',
          error: new InferenceError('upstream', 'The provider broke off its answer.', { reason: 'cut' }),
        },
      ]
    },
  }
}

/** Numbers the parts of items in the order that they begin in. */
function itemReader() {
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

  function text(type: 'text' | 'refusal' | 'thinking', key: string, piece: string): InnerEvent[] {
    return piece === '' ? [] : [{ type, block: getBlock(key), text: piece }]
  }

  function begun(index: number, item: Loose): InnerEvent[] {
    if (item.type !== 'function_call' || blocks.has(`${index} call`)) return []
    const id = textAt(item, 'call_id') ?? ''
    return [{ type: 'call', block: getBlock(`${index} call`), id, name: textAt(item, 'name') ?? '' }]
  }

  function args(index: number, piece: string): InnerEvent[] {
    if (piece === '') return []
    withArguments.add(index)
    return [{ type: 'arguments', block: getBlock(`${index} call`), text: piece }]
  }

  /** Emits what the deltas left out: complete arguments and encrypted content. */
  function done(index: number, item: Loose): InnerEvent[] {
    if (item.type === 'function_call') {
      const call = begun(index, item)
      return withArguments.has(index) ? call : [...call, ...args(index, textAt(item, 'arguments') ?? '')]
    }
    if (item.type !== 'reasoning' || typeof item.encrypted_content !== 'string') return []
    const sealed = { origin: 'openai' as const, value: JSON.stringify(item) }
    return [{ type: 'redacted', block: getBlock(`${index} sealed`), sealed }]
  }

  function whole(index: number, item: Loose): InnerEvent[] {
    const events: InnerEvent[] = []
    for (const [part, content] of listAt(item, 'content').entries()) {
      const refusal = textAt(content, 'refusal')
      const type = item.type === 'reasoning' ? 'thinking' : refusal === undefined ? 'text' : 'refusal'
      const key = type === 'thinking' ? `${index} thinking ${part}` : `${index} ${part}`
      events.push(...text(type, key, refusal ?? textAt(content, 'text') ?? ''))
    }
    for (const [part, summary] of listAt(item, 'summary').entries()) {
      events.push(...text('thinking', `${index} thinking ${part}`, textAt(summary, 'text') ?? ''))
    }
    return [...events, ...done(index, item)]
  }

  return { text, begun, arguments: args, done, whole }
}

function toEnd(response: Loose): InnerEvent[] {
  const usage = usageIn(response.usage)
  const why = textAt(objectAt(response, 'incomplete_details'), 'reason')
  const native = why ?? textAt(response, 'status')
  const reason = why === undefined ? 'stop' : (incomplete[why] ?? 'length')
  return [...(usage ? [{ type: 'usage' as const, usage }] : []), { type: 'finish', reason, native }]
}

function usageIn(value: unknown): Usage | undefined {
  const input = countAt(value, 'input_tokens')
  const output = countAt(value, 'output_tokens')
  if (input === undefined && output === undefined) return undefined
  const cacheRead = countAt(objectAt(value, 'input_tokens_details'), 'cached_tokens') ?? 0
  const written = countAt(objectAt(value, 'input_tokens_details'), 'cache_write_tokens') ?? 0
  return {
    input: Math.max(0, (input ?? 0) - cacheRead - written),
    cacheRead,
    cacheWrite5m: written,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: countAt(objectAt(value, 'output_tokens_details'), 'reasoning_tokens') ?? 0,
  }
}

function errorIn(body: Loose): InferenceError {
  const error = objectAt(body, 'error')
  const message = textAt(error, 'message') ?? 'The provider answered with an error.'
  const code = textAt(error, 'code') ?? textAt(error, 'type')
  return new InferenceError(code === 'rate_limit_exceeded' ? 'rate' : 'upstream', message, { reason: code })
}
