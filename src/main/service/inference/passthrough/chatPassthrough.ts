import type { CanonicalRequest } from '../canonical/canonical.ts'
import { createChatStreamWriter, toChatAnswer, toChatUsage } from '../dialects/chatAnswer.ts'
import type { ChatQuirks } from '../families/quirks.ts'
import { getCount, getList, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import { buildOpenAiRequest } from '../upstreams/openAiRequest.ts'
import { createTextChunks } from '../upstreams/textChunks.ts'
import type { Passthrough } from './passthrough.ts'

/** Fields that are translated. All others are forwarded unchanged. */
const translated = [
  'model',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'reasoning',
  'stream',
  'stream_options',
]
/** Fields that are not forwarded. */
const dropped: ReadonlySet<string> = new Set([...translated, 'cache_control'])

export const chatPassthrough: Passthrough = {
  write(body, request, target) {
    const written = buildOpenAiRequest(request, target)
    const cleaned: Record<string, unknown> = {}
    for (const name in body) if (!dropped.has(name)) cleaned[name] = body[name]
    for (const name of translated) if (written.body[name] !== undefined) cleaned[name] = written.body[name]
    for (const name of ['thinking', 'enable_thinking', 'thinking_budget']) {
      if (written.body[name] !== undefined) cleaned[name] = written.body[name]
    }
    if (request.stream) cleaned.stream_options = { ...getObject(body, 'stream_options'), include_usage: true }
    if (cleaned.tools !== undefined && getList(cleaned, 'tools').length === 0) delete cleaned.tools
    cleaned.messages = toMessages(body, request, target.model.quirks.chat)
    if (refusesLogprobs(request, target.model.refuses)) {
      for (const name of ['logprobs', 'top_logprobs']) {
        if (cleaned[name]) written.warnings.push(`${name} ignored: not supported by ${target.model.name}`)
        delete cleaned[name]
      }
    }
    return { ...written, body: cleaned }
  },
  answer(body, answer, meta, bill) {
    const [choice] = getList(body, 'choices')
    const plain = toChatAnswer(answer, meta, bill)
    const [own] = getList(plain, 'choices')
    const message = {
      ...getObject(own, 'message'),
      ...getObject(choice, 'message'),
      tool_calls: getObject(own, 'message').tool_calls,
    }
    if (message.tool_calls === undefined) delete message.tool_calls
    return {
      ...body,
      ...plain,
      choices: [
        { ...toJsonObject(own), ...toJsonObject(choice), message, finish_reason: toJsonObject(own)?.finish_reason },
      ],
      usage: { ...getObject(body, 'usage'), ...toChatUsage(bill) },
    }
  },
  relay(meta) {
    const writer = createChatStreamWriter(meta)
    const head = `{"id":${JSON.stringify(meta.id)},"object":"chat.completion.chunk","created":${meta.createdSeconds},"model":${JSON.stringify(meta.model)}`
    /** Common prefix of this stream's chunks. */
    let defaultHead: string | undefined
    let begun = false
    const chunks = createTextChunks()
    /** The same text in the chunks that are sent to the caller. */
    let alike = { before: '', after: '' }
    /** Calls by index, with whether they have arguments. */
    const calls = new Map<number, boolean>()

    function patchChunk(data: string): string {
      const text = chunks.readText(data)
      if (text !== undefined) return alike.before + text + alike.after
      if (defaultHead !== undefined && data.startsWith(defaultHead) && isContent(data)) {
        chunks.learn(data)
        const { before, behind: after } = chunks.after()
        alike = { before: `data: ${head}${before.slice(defaultHead.length)}`, after: `${after}\n\n` }
        return `data: ${head}${data.slice(defaultHead.length)}\n\n`
      }
      const chunk = parseJsonObject(data)
      if (!chunk || chunk.error) return ''
      defaultHead ??= readHead(data)
      const [choice] = getList(chunk, 'choices')
      if (!choice) return ''
      const delta = { ...getObject(choice, 'delta') }
      const thinking = getString(delta, 'reasoning')
      if (thinking !== undefined && delta.reasoning_content === undefined) delta.reasoning_content = thinking
      if (!begun) delta.role ??= 'assistant'
      for (const call of getList(delta, 'tool_calls')) {
        const index = getCount(call, 'index') ?? 0
        calls.set(index, calls.get(index) === true || !!getString(getObject(call, 'function'), 'arguments'))
      }
      const empty = Object.values(delta).every(
        (value) => value === '' || value === null || (Array.isArray(value) && value.length === 0),
      )
      if (begun && empty) return ''
      begun = true
      const { usage: _, ...rest } = chunk
      const fields = { ...rest, id: meta.id, created: meta.createdSeconds, model: meta.model }
      const { usage: __, ...choiceRest } = toJsonObject(choice) ?? {}
      return `data: ${JSON.stringify({ ...fields, choices: [{ ...choiceRest, delta, finish_reason: null }] })}\n\n`
    }

    return {
      push: ({ data }) => (data.trim() === '[DONE]' ? '' : patchChunk(data)),
      pushRun(frames) {
        // The prefix ends with text that occurs once per chunk, so splitting at the prefix is safe.
        const begin = `data: ${chunks.after().before}`
        if (alike.before !== '' && frames.startsWith(begin)) return frames.split(begin).join(alike.before)
        const events = frames.split('\n\n').slice(0, -1)
        return events.map((event) => patchChunk(event.slice('data: '.length))).join('')
      },
      finish(event, bill) {
        if (!begun) return writer.finish(event, bill)
        const bare = [...calls].flatMap(([index, any]) => (any ? [] : [{ index, function: { arguments: '{}' } }]))
        return (bare.length > 0 ? writer.chunk({ tool_calls: bare }) : '') + writer.finishOnly(event, bill)
      },
    }
  },
}

/** Whether the chunk contains only content: no end, usage or error. */
function isContent(data: string): boolean {
  return (
    data.includes('"delta":{"content":"') &&
    !data.includes('"finish_reason":"') &&
    !data.includes('"usage":{') &&
    !data.includes('"error"')
  )
}

/** Reads the prefix of a chunk up to the model name, if it has the same format as OpenAI's. */
function readHead(data: string): string | undefined {
  return /^\{"id":"[^"\\]*","object":"chat\.completion\.chunk","created":\d+,"model":"[^"\\]*"/.exec(data)?.[0]
}

/** Returns the messages unchanged, except for parts that the provider would reject. */
function toMessages(body: JsonObject, request: CanonicalRequest, quirks: ChatQuirks | undefined): JsonObject[] {
  const images = listFetchedImages(request)
  return getList(body, 'messages').map((value) => {
    // `parsed` is added by OpenAI's own client.
    const { reasoning_details: _, thinking_blocks: __, parsed: ___, ...message } = toJsonObject(value) ?? {}
    const cleaned: Record<string, unknown> = message
    if (quirks?.refusesThinkingFields) {
      delete cleaned.reasoning_content
      delete cleaned.reasoning
      delete cleaned.extra_content
    }
    if (cleaned.role === 'developer' && !quirks?.hasDeveloperRole) cleaned.role = 'system'
    if (quirks?.returnsThinking && getList(cleaned, 'tool_calls').length > 0) {
      cleaned.reasoning_content = getString(cleaned, 'reasoning_content') || getString(cleaned, 'reasoning') || ' '
    }
    if (Array.isArray(cleaned.content)) cleaned.content = toContent(cleaned.content, { images, quirks })
    if (Array.isArray(cleaned.tool_calls)) cleaned.tool_calls = cleaned.tool_calls.map((call) => toCall(call, quirks))
    return cleaned
  })
}

function toContent(
  parts: readonly unknown[],
  { images, quirks }: { images: ReadonlyMap<string, string>; quirks: ChatQuirks | undefined },
): unknown[] {
  return parts.flatMap((value) => {
    const part = toJsonObject(value) ?? {}
    if (part.type === 'text' && !quirks?.takesBlankTexts && (getString(part, 'text') ?? '').trim() === '') return []
    if (part.type !== 'image_url') return [part]
    const url = getString(getObject(part, 'image_url'), 'url') ?? getString(part, 'image_url') ?? ''
    const data = images.get(url)
    return [data === undefined ? part : { ...part, image_url: { ...getObject(part, 'image_url'), url: data } }]
  })
}

/** Every provider accepts a call without arguments as `{}`. */
function toCall(it: unknown, quirks: ChatQuirks | undefined): JsonObject {
  const { extra_content: extra, ...call } = toJsonObject(it) ?? {}
  const { parsed_arguments: _, ...named } = getObject(call, 'function')
  return {
    ...call,
    ...(call.function !== undefined && { function: { ...named, arguments: named.arguments || '{}' } }),
    ...(extra !== undefined && quirks?.takesExtraContent && { extra_content: extra }),
  }
}

/** Returns the data of each fetched image by its URL. */
function listFetchedImages(request: CanonicalRequest): Map<string, string> {
  const images = new Map<string, string>()
  for (const turn of request.turns) {
    if (turn.role !== 'user') continue
    for (const part of turn.parts) {
      if (part.type !== 'image' || part.source.kind !== 'data' || part.fetchedFrom === undefined) continue
      images.set(part.fetchedFrom, `data:${part.source.mediaType};base64,${part.source.base64}`)
    }
  }
  return images
}

function refusesLogprobs(request: CanonicalRequest, refuses: readonly { parameter: string; when: string }[]): boolean {
  const thinking = request.reasoning?.effort !== undefined && request.reasoning.effort !== 'none'
  return refuses.some((refuse) => refuse.parameter === 'logprobs' && (refuse.when === 'always' || thinking))
}
