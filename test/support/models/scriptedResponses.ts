import { pieces, type ScriptedAnswer, type ScriptedPart, type ScriptedUsage, sse } from './scriptedAnswer.ts'

type Fields = Record<string, unknown>

// See https://platform.openai.com/docs/api-reference/responses.

function toUsage(usage: ScriptedUsage): Fields {
  const input = usage.input + usage.cacheRead
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  }
}

/** Encrypted content belongs to the preceding reasoning item. */
function toItem(part: ScriptedPart, index: number): Fields {
  if ('thinking' in part) {
    const summary = part.thinking === '' ? [] : [{ type: 'summary_text', text: part.thinking }]
    return {
      id: `rs_${index}`,
      type: 'reasoning',
      summary,
      ...(part.signature && { encrypted_content: part.signature }),
    }
  }
  if ('redacted' in part) return { id: `rs_${index}`, type: 'reasoning', summary: [], encrypted_content: part.redacted }
  if ('text' in part) {
    const content = [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }]
    return { id: `msg_${index}`, type: 'message', status: 'completed', role: 'assistant', content }
  }
  return {
    id: `fc_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: part.id,
    name: part.call,
    arguments: part.args || '{}',
  }
}

export function responsesJson(answer: ScriptedAnswer, model = 'some-model'): Fields {
  return {
    id: 'resp_upstream',
    object: 'response',
    created_at: 1_700_000_000,
    status: answer.finish ?? 'completed',
    error: null,
    incomplete_details: answer.finish === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model,
    output: answer.parts.map(toItem),
    usage: toUsage(answer.usage),
  }
}

export function responsesFrames(answer: ScriptedAnswer, model = 'some-model'): string[] {
  const whole = responsesJson(answer, model)
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: (Fields & { type: string })[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ]
  for (const [index, part] of answer.parts.entries()) {
    const item = toItem(part, index)
    const location = { item_id: item.id, output_index: index }
    const delta = (type: string, text: string, fields: Fields) =>
      pieces(text).map((it) => ({ type, ...location, ...fields, delta: it }))
    const empty = 'text' in part ? { content: [] } : 'call' in part ? { arguments: '' } : { summary: [] }
    events.push({ type: 'response.output_item.added', output_index: index, item: { ...item, ...empty } })
    if ('thinking' in part && part.thinking !== '') {
      const summary = { ...location, summary_index: 0 }
      const whole = { type: 'summary_text', text: part.thinking }
      events.push(
        { type: 'response.reasoning_summary_part.added', ...summary, part: { ...whole, text: '' } },
        ...delta('response.reasoning_summary_text.delta', part.thinking, { summary_index: 0 }),
        { type: 'response.reasoning_summary_text.done', ...summary, text: part.thinking },
        { type: 'response.reasoning_summary_part.done', ...summary, part: whole },
      )
    }
    if ('text' in part) {
      const content = { ...location, content_index: 0 }
      const whole = { type: 'output_text', text: part.text, annotations: [], logprobs: [] }
      events.push(
        { type: 'response.content_part.added', ...content, part: { ...whole, text: '' } },
        ...delta('response.output_text.delta', part.text, { content_index: 0, logprobs: [] }),
        { type: 'response.output_text.done', ...content, text: part.text, logprobs: [] },
        { type: 'response.content_part.done', ...content, part: whole },
      )
    }
    if ('call' in part) events.push(...delta('response.function_call_arguments.delta', part.args || '{}', {}))
    events.push({ type: 'response.output_item.done', output_index: index, item })
  }
  events.push({ type: whole.status === 'incomplete' ? 'response.incomplete' : 'response.completed', response: whole })
  return events.map((it, index) => sse({ ...it, sequence_number: index }, it.type))
}
