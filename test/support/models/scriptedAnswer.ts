/** Scripted completion, independent of a provider's format. */
export type ScriptedAnswer = {
  parts: ScriptedPart[]
  usage: ScriptedUsage
  /** Finish reason in the provider's format. Defaults to the usual one. */
  finish?: string
}

export type ScriptedPart =
  | { thinking: string; signature?: string }
  | { redacted: string }
  | { text: string; signature?: string }
  /** `args` is JSON, or invalid text that a model produced instead. */
  | { call: string; id: string; args: string; signature?: string }

export type ScriptedUsage = {
  /** Input tokens, excluding cached ones. */
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  /** Output tokens, including reasoning. */
  output: number
  reasoning: number
}

type Fields = Record<string, unknown>

export const plainUsage: ScriptedUsage = {
  input: 11,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: 7,
  reasoning: 0,
}

export function hasCalls(answer: ScriptedAnswer): boolean {
  return answer.parts.some((part) => 'call' in part)
}

/** Splits a text into chunks, as models stream it. */
export function pieces(text: string, size = 5): string[] {
  const chunks: string[] = []
  for (let offset = 0; offset < text.length; offset += size) chunks.push(text.slice(offset, offset + size))
  return chunks
}

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

// See https://platform.openai.com/docs/api-reference/chat.

export function chatUsage(usage: ScriptedUsage): Fields {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite5m
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(usage.cacheWrite5m > 0 && { cache_creation_input_tokens: usage.cacheWrite5m }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

const chatFinish = (answer: ScriptedAnswer) => answer.finish ?? (hasCalls(answer) ? 'tool_calls' : 'stop')

export function chatJson(answer: ScriptedAnswer, model = 'some-model'): Fields {
  const text = answer.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
  const thinking = answer.parts.flatMap((part) => ('thinking' in part ? [part.thinking] : [])).join('')
  const calls = answer.parts.flatMap((part) => ('call' in part ? [part] : []))
  return {
    id: 'chatcmpl-upstream',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(thinking !== '' && { reasoning_content: thinking }),
          ...(calls.length > 0 && {
            tool_calls: calls.map((call) => ({
              id: call.id,
              type: 'function',
              function: { name: call.call, arguments: call.args },
            })),
          }),
        },
        finish_reason: chatFinish(answer),
      },
    ],
    usage: chatUsage(answer.usage),
  }
}

export function chatFrames(answer: ScriptedAnswer, { model = 'some-model', usage = true } = {}): string[] {
  const chunk = (delta: Fields, finish: string | null = null) => ({
    id: 'chatcmpl-upstream',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const frames = [chunk({ role: 'assistant', content: '' })]
  let calls = 0
  for (const part of answer.parts) {
    if ('thinking' in part) frames.push(...pieces(part.thinking).map((it) => chunk({ reasoning_content: it })))
    if ('text' in part) frames.push(...pieces(part.text).map((it) => chunk({ content: it })))
    if ('call' in part) {
      const index = calls
      calls += 1
      frames.push(
        chunk({ tool_calls: [{ index, id: part.id, type: 'function', function: { name: part.call, arguments: '' } }] }),
        ...pieces(part.args).map((it) => chunk({ tool_calls: [{ index, function: { arguments: it } }] })),
      )
    }
  }
  frames.push(chunk({}, chatFinish(answer)))
  const last = { id: 'chatcmpl-upstream', object: 'chat.completion.chunk', created: 1_700_000_000, model, choices: [] }
  return [
    ...frames.map((it) => sse(it)),
    ...(usage ? [sse({ ...last, usage: chatUsage(answer.usage) })] : []),
    sse('[DONE]'),
  ]
}

// See https://docs.anthropic.com/en/api/messages.

export function messagesUsage(usage: ScriptedUsage): Fields {
  return {
    input_tokens: usage.input,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}

const messagesFinish = (answer: ScriptedAnswer) => answer.finish ?? (hasCalls(answer) ? 'tool_use' : 'end_turn')

export function messagesJson(answer: ScriptedAnswer, model = 'some-model'): Fields {
  return {
    id: 'msg_upstream',
    type: 'message',
    role: 'assistant',
    model,
    content: answer.parts.map((part) => {
      if ('thinking' in part) return { type: 'thinking', thinking: part.thinking, signature: part.signature ?? '' }
      if ('redacted' in part) return { type: 'redacted_thinking', data: part.redacted }
      if ('text' in part) return { type: 'text', text: part.text }
      return { type: 'tool_use', id: part.id, name: part.call, input: JSON.parse(part.args === '' ? '{}' : part.args) }
    }),
    stop_reason: messagesFinish(answer),
    stop_sequence: null,
    usage: messagesUsage(answer.usage),
  }
}

export function messagesFrames(answer: ScriptedAnswer, { model = 'some-model' } = {}): string[] {
  const frames: (Fields & { type: string })[] = [
    {
      type: 'message_start',
      message: {
        id: 'msg_upstream',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...messagesUsage({ ...answer.usage, output: 1, reasoning: 0 }) },
      },
    },
    { type: 'ping' },
  ]
  for (const [index, part] of answer.parts.entries()) {
    const delta = (fields: Fields) => ({ type: 'content_block_delta', index, delta: fields })
    const start = (block: Fields) => ({ type: 'content_block_start', index, content_block: block })
    if ('thinking' in part) {
      frames.push(
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(part.thinking).map((it) => delta({ type: 'thinking_delta', thinking: it })),
        ...(part.signature ? [delta({ type: 'signature_delta', signature: part.signature })] : []),
      )
    } else if ('redacted' in part) frames.push(start({ type: 'redacted_thinking', data: part.redacted }))
    else if ('text' in part) {
      frames.push(
        start({ type: 'text', text: '' }),
        ...pieces(part.text).map((it) => delta({ type: 'text_delta', text: it })),
      )
    } else {
      frames.push(
        start({ type: 'tool_use', id: part.id, name: part.call, input: {} }),
        ...pieces(part.args).map((it) => delta({ type: 'input_json_delta', partial_json: it })),
      )
    }
    frames.push({ type: 'content_block_stop', index })
  }
  const usage = messagesUsage(answer.usage)
  return [
    ...frames,
    { type: 'message_delta', delta: { stop_reason: messagesFinish(answer), stop_sequence: null }, usage },
    { type: 'message_stop' },
  ].map((frame) => sse(frame, frame.type))
}

// See https://ai.google.dev/api/generate-content.

export function geminiUsage(usage: ScriptedUsage): Fields {
  const prompt = usage.input + usage.cacheRead
  return {
    promptTokenCount: prompt,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    candidatesTokenCount: usage.output - usage.reasoning,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: prompt + usage.output,
  }
}

function geminiPart(part: ScriptedPart, text?: string): Fields {
  if ('thinking' in part) return { text: text ?? part.thinking, thought: true }
  if ('text' in part) {
    return {
      text: text ?? part.text,
      ...(part.signature !== undefined && text === undefined && { thoughtSignature: part.signature }),
    }
  }
  if ('redacted' in part) throw new Error('Gemini has no redacted thinking.')
  const functionCall = { id: part.id, name: part.call, args: JSON.parse(part.args === '' ? '{}' : part.args) }
  return { functionCall, ...(part.signature !== undefined && { thoughtSignature: part.signature }) }
}

export function geminiJson(answer: ScriptedAnswer): Fields {
  return {
    candidates: [
      {
        content: { role: 'model', parts: answer.parts.map((part) => geminiPart(part)) },
        finishReason: answer.finish ?? 'STOP',
        index: 0,
      },
    ],
    usageMetadata: geminiUsage(answer.usage),
    modelVersion: 'some-model',
    responseId: 'gemini-upstream',
  }
}

export function geminiFrames(answer: ScriptedAnswer): string[] {
  const chunk = (parts: Fields[], fields: Fields = {}, output = 0) => ({
    candidates: [{ ...(parts.length > 0 && { content: { role: 'model', parts } }), index: 0, ...fields }],
    usageMetadata: geminiUsage({ ...answer.usage, output, reasoning: 0 }),
    responseId: 'gemini-upstream',
  })
  const chunks = answer.parts.flatMap((part) => {
    const text = 'thinking' in part ? part.thinking : 'text' in part ? part.text : undefined
    if (text === undefined) return [chunk([geminiPart(part)])]
    const signed = 'text' in part && part.signature !== undefined
    return [
      ...pieces(text).map((value) => chunk([geminiPart(part, value)])),
      ...(signed ? [chunk([{ text: '', thoughtSignature: part.signature }])] : []),
    ]
  })
  // The finish reason follows the last part in a separate chunk.
  const last = { ...chunk([], { finishReason: answer.finish ?? 'STOP' }), usageMetadata: geminiUsage(answer.usage) }
  return [...chunks, last].map((it) => sse(it))
}
