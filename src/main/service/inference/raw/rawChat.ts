import { chatAnswer, chatStreamWriter, chatUsage } from '../dialects/chatAnswer.ts'
import type { ChatQuirks } from '../families/quirks.ts'
import type { InnerRequest } from '../innerForm.ts'
import { countAt, type Loose, listAt, looseObject, objectAt, parsedObject, textAt } from '../looseJson.ts'
import { openAiRequest } from '../upstreams/openAiRequest.ts'
import { textChunks } from '../upstreams/textChunks.ts'
import type { RawPass } from './rawPass.ts'

/** What the translator writes of the request; every other field passes as it came. */
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
/** Left out of what passes. */
const dropped: ReadonlySet<string> = new Set([...translated, 'cache_control'])

export const rawChat: RawPass = {
  write(body, request, target) {
    const written = openAiRequest(request, target)
    const kept: Record<string, unknown> = {}
    for (const name in body) if (!dropped.has(name)) kept[name] = body[name]
    for (const name of translated) if (written.body[name] !== undefined) kept[name] = written.body[name]
    for (const name of ['thinking', 'enable_thinking', 'thinking_budget']) {
      if (written.body[name] !== undefined) kept[name] = written.body[name]
    }
    if (request.stream) kept.stream_options = { ...objectAt(body, 'stream_options'), include_usage: true }
    if (kept.tools !== undefined && listAt(kept, 'tools').length === 0) delete kept.tools
    kept.messages = messagesOf(body, request, target.model.quirks.chat)
    if (refusesLogprobs(request, target.model.refuses)) {
      for (const name of ['logprobs', 'top_logprobs']) {
        if (kept[name]) written.warnings.push(`${name} was left out: ${target.model.name} does not take it`)
        delete kept[name]
      }
    }
    return { ...written, body: kept }
  },
  answer(body, answer, told, bill) {
    const [choice] = listAt(body, 'choices')
    const plain = chatAnswer(answer, told, bill)
    const [own] = listAt(plain, 'choices')
    const message = {
      ...objectAt(own, 'message'),
      ...objectAt(choice, 'message'),
      tool_calls: objectAt(own, 'message').tool_calls,
    }
    if (message.tool_calls === undefined) delete message.tool_calls
    return {
      ...body,
      ...plain,
      choices: [
        { ...looseObject(own), ...looseObject(choice), message, finish_reason: looseObject(own)?.finish_reason },
      ],
      usage: { ...objectAt(body, 'usage'), ...chatUsage(bill) },
    }
  },
  relay(told) {
    const writer = chatStreamWriter(told)
    const head = `{"id":${JSON.stringify(told.id)},"object":"chat.completion.chunk","created":${told.createdSeconds},"model":${JSON.stringify(told.model)}`
    /** How the chunks of this stream begin, before what differs. */
    let usual: string | undefined
    let begun = false
    const chunks = textChunks()
    /** The same as those that go on to the caller. */
    let alike = { before: '', behind: '' }
    /** Of each call, whether it has arguments. */
    const calls = new Map<number, boolean>()

    function patched(data: string): string {
      const text = chunks.textOf(data)
      if (text !== undefined) return alike.before + text + alike.behind
      if (usual !== undefined && data.startsWith(usual) && isContent(data)) {
        chunks.learn(data)
        const { before, behind } = chunks.around()
        alike = { before: `data: ${head}${before.slice(usual.length)}`, behind: `${behind}\n\n` }
        return `data: ${head}${data.slice(usual.length)}\n\n`
      }
      const chunk = parsedObject(data)
      if (!chunk || chunk.error) return ''
      usual ??= headOf(data)
      const [choice] = listAt(chunk, 'choices')
      if (!choice) return ''
      const delta = { ...objectAt(choice, 'delta') }
      const thinking = textAt(delta, 'reasoning')
      if (thinking !== undefined && delta.reasoning_content === undefined) delta.reasoning_content = thinking
      if (!begun) delta.role ??= 'assistant'
      for (const call of listAt(delta, 'tool_calls')) {
        const index = countAt(call, 'index') ?? 0
        calls.set(index, calls.get(index) === true || !!textAt(objectAt(call, 'function'), 'arguments'))
      }
      const empty = Object.values(delta).every(
        (it) => it === '' || it === null || (Array.isArray(it) && it.length === 0),
      )
      if (begun && empty) return ''
      begun = true
      const { usage: _, ...rest } = chunk
      const fields = { ...rest, id: told.id, created: told.createdSeconds, model: told.model }
      const { usage: __, ...choiceRest } = looseObject(choice) ?? {}
      return `data: ${JSON.stringify({ ...fields, choices: [{ ...choiceRest, delta, finish_reason: null }] })}\n\n`
    }

    return {
      push: ({ data }) => (data.trim() === '[DONE]' ? '' : patched(data)),
      pushRun(frames) {
        // The beginning ends in what no chunk has twice, so that it stands nowhere but there.
        const begin = `data: ${chunks.around().before}`
        if (alike.before !== '' && frames.startsWith(begin)) return frames.split(begin).join(alike.before)
        const events = frames.split('\n\n').slice(0, -1)
        return events.map((it) => patched(it.slice('data: '.length))).join('')
      },
      finish(event, bill) {
        if (!begun) return writer.finish(event, bill)
        const bare = [...calls].flatMap(([index, any]) => (any ? [] : [{ index, function: { arguments: '{}' } }]))
        return (bare.length > 0 ? writer.chunk({ tool_calls: bare }) : '') + writer.finishOnly(event, bill)
      },
    }
  },
}

/** Nothing in it but a piece of the answer: no end, no usage, no error. */
function isContent(data: string): boolean {
  return (
    data.includes('"delta":{"content":"') &&
    !data.includes('"finish_reason":"') &&
    !data.includes('"usage":{') &&
    !data.includes('"error"')
  )
}

/** Up to the name of the model, where a chunk begins as OpenAI's do. */
function headOf(data: string): string | undefined {
  return /^\{"id":"[^"\\]*","object":"chat\.completion\.chunk","created":\d+,"model":"[^"\\]*"/.exec(data)?.[0]
}

/** Messages as they came, but for what the provider would refuse. */
function messagesOf(body: Loose, request: InnerRequest, quirks: ChatQuirks | undefined): Loose[] {
  const images = fetchedImages(request)
  return listAt(body, 'messages').map((it) => {
    // `parsed` is what OpenAI's own client adds for itself.
    const { reasoning_details: _, thinking_blocks: __, parsed: ___, ...message } = looseObject(it) ?? {}
    const kept: Record<string, unknown> = message
    if (quirks?.refusesThinkingFields) {
      delete kept.reasoning_content
      delete kept.reasoning
      delete kept.extra_content
    }
    if (kept.role === 'developer' && !quirks?.hasDeveloperRole) kept.role = 'system'
    if (quirks?.returnsThinking && listAt(kept, 'tool_calls').length > 0) {
      kept.reasoning_content = textAt(kept, 'reasoning_content') || textAt(kept, 'reasoning') || ' '
    }
    if (Array.isArray(kept.content)) kept.content = contentOf(kept.content, { images, quirks })
    if (Array.isArray(kept.tool_calls)) kept.tool_calls = kept.tool_calls.map((call) => callOf(call, quirks))
    return kept
  })
}

function contentOf(
  parts: readonly unknown[],
  { images, quirks }: { images: ReadonlyMap<string, string>; quirks: ChatQuirks | undefined },
): unknown[] {
  return parts.flatMap((it) => {
    const part = looseObject(it) ?? {}
    if (part.type === 'text' && !quirks?.takesBlankTexts && (textAt(part, 'text') ?? '').trim() === '') return []
    if (part.type !== 'image_url') return [part]
    const url = textAt(objectAt(part, 'image_url'), 'url') ?? textAt(part, 'image_url') ?? ''
    const data = images.get(url)
    return [data === undefined ? part : { ...part, image_url: { ...objectAt(part, 'image_url'), url: data } }]
  })
}

/** A call without arguments is refused by none as `{}`. */
function callOf(it: unknown, quirks: ChatQuirks | undefined): Loose {
  const { extra_content: extra, ...call } = looseObject(it) ?? {}
  const { parsed_arguments: _, ...named } = objectAt(call, 'function')
  return {
    ...call,
    ...(call.function !== undefined && { function: { ...named, arguments: named.arguments || '{}' } }),
    ...(extra !== undefined && quirks?.takesExtraContent && { extra_content: extra }),
  }
}

/** The data of each image that was fetched, by its address. */
function fetchedImages(request: InnerRequest): Map<string, string> {
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

function refusesLogprobs(request: InnerRequest, refuses: readonly { parameter: string; when: string }[]): boolean {
  const thinking = request.reasoning?.effort !== undefined && request.reasoning.effort !== 'none'
  return refuses.some((it) => it.parameter === 'logprobs' && (it.when === 'always' || thinking))
}
