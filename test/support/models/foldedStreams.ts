import { createSseParser } from '#platform/http/sseEvents.ts'

type Fields = Record<string, unknown>
// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

/** Parses the events of a stream. */
export function wireEvents(text: string): { event: string | undefined; data: Wire }[] {
  const parser = createSseParser()
  return [...parser.feed(Buffer.from(text)), ...parser.end()].map(({ event, data }) => ({
    event,
    data: data === '[DONE]' ? data : JSON.parse(data),
  }))
}

/** Folds a stream of chat completions into the JSON of a non-streaming response. */
export function foldChat(text: string): Fields {
  const events = wireEvents(text)
  const chunks = events.filter(({ data }) => data !== '[DONE]').map(({ data }) => data)
  const message: Wire = { role: undefined, content: null, refusal: null }
  let end: Wire
  let usage: unknown
  const details: unknown[] = []
  const calls: Wire[] = []
  for (const chunk of chunks) {
    if (chunk.usage) usage = chunk.usage
    const [choice] = chunk.choices
    if (!choice) continue
    const { delta } = choice
    if (delta.role) message.role = delta.role
    for (const name of ['content', 'refusal', 'reasoning_content']) {
      if (delta[name]) message[name] = (message[name] ?? '') + delta[name]
    }
    details.push(...(delta.reasoning_details ?? []))
    if (delta.extra_content) message.extra_content ??= delta.extra_content
    for (const { index, ...piece } of delta.tool_calls ?? []) {
      if (!calls[index]) calls[index] = piece
      else calls[index].function.arguments += piece.function.arguments
    }
    if (choice.finish_reason) {
      if (end) throw new Error('There are two ends.')
      end = choice
    }
  }
  if (details.length > 0) message.reasoning_details = details
  if (calls.length > 0) message.tool_calls = calls
  const { id, created, model } = chunks[0]
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: end?.finish_reason,
        ...(end?.native_finish_reason !== undefined && { native_finish_reason: end.native_finish_reason }),
      },
    ],
    usage,
  }
}

export function foldMessages(text: string): Fields {
  let message: Wire
  const open = new Map<number, Wire>()
  for (const { data } of wireEvents(text)) {
    if (data.type === 'message_start') message = data.message
    if (data.type === 'content_block_start') {
      if (data.index !== message.content.length) throw new Error('A block has the wrong index.')
      if (open.size > 0) throw new Error('Two blocks are open.')
      open.set(data.index, { ...data.content_block, json: '' })
      message.content.push(data.content_block)
    }
    if (data.type === 'content_block_delta') {
      const block = open.get(data.index)
      const { delta } = data
      if (delta.type === 'text_delta') block.text += delta.text
      if (delta.type === 'thinking_delta') block.thinking += delta.thinking
      if (delta.type === 'signature_delta') block.signature += delta.signature
      if (delta.type === 'input_json_delta') block.json += delta.partial_json
    }
    if (data.type === 'content_block_stop') {
      const { json, ...block } = open.get(data.index)
      if (block.type === 'tool_use') block.input = JSON.parse(json || '{}')
      message.content[data.index] = block
      open.delete(data.index)
    }
    if (data.type === 'message_delta') Object.assign(message, data.delta, { usage: data.usage })
  }
  if (open.size > 0) throw new Error('A block is open at the end.')
  return message
}

export function foldResponses(text: string): Fields {
  const events = wireEvents(text)
  const items: Wire[] = []
  const sums = new Map<string, string>()
  for (const [index, { event, data }] of events.entries()) {
    if (data.sequence_number !== index) throw new Error(`Event ${index} has the number ${data.sequence_number}.`)
    if (event !== data.type) throw new Error(`Event ${event} says that it is ${data.type}.`)
    if (data.type === 'response.output_item.done') items[data.output_index] = data.item
    const key = `${data.item_id} ${String(data.type).replace(/\.(delta|done)$/, '')}`
    if (String(data.type).endsWith('.delta')) sums.set(key, (sums.get(key) ?? '') + data.delta)
    const whole = data.text ?? data.arguments ?? data.refusal ?? data.input
    if (String(data.type).endsWith('.done') && typeof whole === 'string' && whole !== (sums.get(key) ?? '')) {
      throw new Error(`${data.type} is not the sum of its deltas.`)
    }
  }
  const last = events.at(-1)?.data
  if (JSON.stringify(items) !== JSON.stringify(last.response.output)) throw new Error('The items are not the output.')
  return last.response
}
