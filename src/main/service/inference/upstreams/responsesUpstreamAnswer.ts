import { InferenceError } from '../inferenceError.ts'
import type { FinishReason, InnerEvent, Usage } from '../innerForm.ts'
import { countAt, type Loose, listAt, looseObject, objectAt, parsedObject, textAt } from '../looseJson.ts'
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
    ...listAt(body, 'output').flatMap((item, at) => items.whole(at, looseObject(item) ?? {})),
    ...endOf(body),
  ]
}

export function responsesUpstreamStreamReader(): StreamReader {
  const items = itemReader()
  let ended = false

  function taken(event: Loose): InnerEvent[] {
    const at = countAt(event, 'output_index') ?? 0
    switch (event.type) {
      case 'response.created':
        return [{ type: 'start', id: textAt(event.response, 'id') }]
      case 'response.output_item.added':
        return items.begun(at, objectAt(event, 'item'))
      case 'response.output_text.delta':
        return items.text('text', `${at} ${countAt(event, 'content_index') ?? 0}`, textAt(event, 'delta') ?? '')
      case 'response.refusal.delta':
        return items.text('refusal', `${at} ${countAt(event, 'content_index') ?? 0}`, textAt(event, 'delta') ?? '')
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta': {
        const part = countAt(event, 'summary_index') ?? countAt(event, 'content_index') ?? 0
        return items.text('thinking', `${at} thinking ${part}`, textAt(event, 'delta') ?? '')
      }
      case 'response.function_call_arguments.delta':
        return items.arguments(at, textAt(event, 'delta') ?? '')
      case 'response.output_item.done':
        return items.done(at, objectAt(event, 'item'))
      case 'response.completed':
      case 'response.incomplete':
        ended = true
        return endOf(objectAt(event, 'response'))
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
      const event = parsedObject(data)
      if (event) return taken(event)
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

  function blockOf(key: string): number {
    const known = blocks.get(key)
    if (known !== undefined) return known
    last += 1
    blocks.set(key, last)
    return last
  }

  function text(type: 'text' | 'refusal' | 'thinking', key: string, piece: string): InnerEvent[] {
    return piece === '' ? [] : [{ type, block: blockOf(key), text: piece }]
  }

  function begun(at: number, item: Loose): InnerEvent[] {
    if (item.type !== 'function_call' || blocks.has(`${at} call`)) return []
    const id = textAt(item, 'call_id') ?? ''
    return [{ type: 'call', block: blockOf(`${at} call`), id, name: textAt(item, 'name') ?? '' }]
  }

  function args(at: number, piece: string): InnerEvent[] {
    if (piece === '') return []
    withArguments.add(at)
    return [{ type: 'arguments', block: blockOf(`${at} call`), text: piece }]
  }

  /** What its pieces have not told yet: arguments in whole, and what is sealed. */
  function done(at: number, item: Loose): InnerEvent[] {
    if (item.type === 'function_call') {
      const call = begun(at, item)
      return withArguments.has(at) ? call : [...call, ...args(at, textAt(item, 'arguments') ?? '')]
    }
    if (item.type !== 'reasoning' || typeof item.encrypted_content !== 'string') return []
    const sealed = { origin: 'openai' as const, value: JSON.stringify(item) }
    return [{ type: 'redacted', block: blockOf(`${at} sealed`), sealed }]
  }

  function whole(at: number, item: Loose): InnerEvent[] {
    const events: InnerEvent[] = []
    for (const [part, content] of listAt(item, 'content').entries()) {
      const refusal = textAt(content, 'refusal')
      const type = item.type === 'reasoning' ? 'thinking' : refusal === undefined ? 'text' : 'refusal'
      const key = type === 'thinking' ? `${at} thinking ${part}` : `${at} ${part}`
      events.push(...text(type, key, refusal ?? textAt(content, 'text') ?? ''))
    }
    for (const [part, summary] of listAt(item, 'summary').entries()) {
      events.push(...text('thinking', `${at} thinking ${part}`, textAt(summary, 'text') ?? ''))
    }
    return [...events, ...done(at, item)]
  }

  return { text, begun, arguments: args, done, whole }
}

function endOf(response: Loose): InnerEvent[] {
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
