import { parseJson } from '#platform/boundedJson.ts'
import type { createChatCompletion, ListedModel } from '#shared/contract/inference.ts'
import type { Input } from '#shared/contract/route.ts'
import type { CallRow, StepRow } from './callRepository.ts'
import type { ChatStore } from './chatStore.ts'
import { toolboxOf } from './chatToolbox.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { Carried } from './gatheredCalls.ts'
import type { StoredAttachment } from './libraryRepository.ts'
import type { MessageRow } from './messageRepository.ts'
import { asksForCache } from './modelPrices.ts'

type Given = {
  conversation: StoredConversation
  model: ListedModel
  /** Numbers of messages, oldest first. */
  messages: readonly number[]
  /** The answer that goes on, after calls of tools. */
  answer: { number: number; text: string }
  maxTokens: number
}
type Turn = { role: string; content: string | null | Part[]; [field: string]: unknown }
type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** What is asked of the service, as OpenAI's chat completions have it. */
export function completionRequest(store: ChatStore, given: Given): Input<typeof createChatCompletion> {
  const { conversation, model, maxTokens, answer } = given
  const { temperature, top_p, reasoning_effort, stop, seed } = conversation.parameters
  const rows = store.messages.numbered(given.messages)
  const attached = store.library.attachmentsOf(given.messages)
  const answers = [...given.messages, answer.number]
  const steps = Map.groupBy(store.calls.stepsOf(answers), ({ message }) => message)
  const calls = Map.groupBy(store.calls.callsOf(answers), ({ message }) => message)
  const madeBy = (number: number) => ({ steps: steps.get(number) ?? [], calls: calls.get(number) ?? [] })
  const { system, tools } = toolboxOf(store, conversation, steps.size > 0)
  const request = {
    model: model.id,
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: maxTokens,
    ...(temperature !== null && { temperature }),
    ...(top_p !== null && { top_p }),
    ...(reasoning_effort !== null && { reasoning_effort }),
    ...(stop !== null && stop.length > 0 && { stop }),
    ...(seed !== null && { seed }),
    ...(tools.length > 0 && { tools, tool_choice: conversation.tools.enabled ? 'auto' : 'none' }),
    // Keeps what both sides share of a conversation's requests where a provider looks for it.
    prompt_cache_key: conversation.id,
    ...(asksForCache(model) && { cache_control: { type: 'ephemeral' } }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...rows.flatMap((row) =>
        row.role === 'assistant'
          ? answerTurns(row.text, madeBy(row.number), 'past')
          : personTurns(
              store,
              row,
              attached.filter(({ message }) => message === row.number),
            ),
      ),
      ...answerTurns(answer.text, madeBy(answer.number), 'present'),
    ],
  }
  return request
}

type Made = { steps: readonly StepRow[]; calls: readonly CallRow[] }

/**
 * An answer as the steps in which it was made. One of which nothing came says nothing. What a provider wants back
 * unchanged it wants within the answer that is being made; later it may be another provider.
 */
export function answerTurns(text: string, { steps, calls }: Made, when: 'past' | 'present'): Turn[] {
  const turns: Turn[] = []
  let from = 0
  for (const { step, at, carried } of steps) {
    const own = calls.filter((it) => it.step === step)
    const content = text.slice(from, at).trim()
    from = at
    turns.push({
      role: 'assistant',
      content: content === '' ? null : content,
      tool_calls: own.map(({ id, tool, arguments: given, extra }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: sentArguments(given) },
        ...(when === 'present' && extra !== null && { extra_content: parseJson(extra) }),
      })),
      ...(when === 'present' && (parseJson(carried) as Carried)),
    })
    for (const { id, output } of own) {
      turns.push({ role: 'tool', tool_call_id: id, content: output ?? 'It has not ended.' })
    }
  }
  const rest = text.slice(from).trim()
  return rest === '' ? turns : [...turns, { role: 'assistant', content: rest }]
}

/** Providers take nothing but an object; what the model wrote in its place was refused, and it was told why. */
function sentArguments(given: string): string {
  try {
    const parsed: unknown = parseJson(given)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? given : '{}'
  } catch {
    return '{}'
  }
}

function personTurns(store: ChatStore, row: MessageRow, attached: readonly StoredAttachment[]): Turn[] {
  const text = [...attached.filter(({ kind }) => kind === 'text').map((it) => quoted(store, it)), row.text]
    .filter((it) => it !== '')
    .join('\n\n')
  const images = attached.filter(({ kind }) => kind === 'image')
  if (images.length === 0) return [{ role: 'user', content: text }]
  const parts: Part[] = [
    ...images.map((it) => ({ type: 'image_url' as const, image_url: { url: dataUrl(store, it) } })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ]
  return [{ role: 'user', content: parts }]
}

function quoted(store: ChatStore, { hash, name }: StoredAttachment): string {
  const text = store.library.bytes(hash)?.toString('utf8') ?? ''
  return `<attachment name=${JSON.stringify(name)}>\n${text}\n</attachment>`
}

function dataUrl(store: ChatStore, { hash, media_type }: StoredAttachment): string {
  return `data:${media_type};base64,${store.library.bytes(hash)?.toString('base64') ?? ''}`
}
