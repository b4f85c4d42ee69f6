import { parseJson } from '#platform/parsing/boundedJson.ts'
import type { createChatCompletion, ListedModel } from '#shared/contract/inference.ts'
import type { Input } from '#shared/contract/route.ts'
import type { StoredAttachment } from './attachmentRepository.ts'
import type { CallRow, StepRow } from './callRepository.ts'
import type { ChatStore } from './chatStore.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { MessageRow } from './messageRepository.ts'
import { isCacheBilled } from './modelPrices.ts'
import { buildPromptContext } from './promptContext.ts'
import type { ProviderState } from './toolCallAccumulator.ts'

type RequestOptions = {
  conversation: StoredConversation
  model: ListedModel
  /** Numbers of messages, oldest first. */
  messages: readonly number[]
  /** Assistant message to continue after tool calls. */
  answer: { number: number; text: string }
  maxTokens: number
}
type Turn = { role: string; content: string | null | Part[]; [field: string]: unknown }
type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** Builds a request in the format of OpenAI's chat completions. */
export function buildCompletionRequest(store: ChatStore, options: RequestOptions): Input<typeof createChatCompletion> {
  const { conversation, model, maxTokens, answer } = options
  const { temperature, top_p, reasoning_effort, stop, seed } = conversation.parameters
  const rows = store.messages.findByNumbers(options.messages)
  const attached = store.attachments.list(options.messages)
  const answers = [...options.messages, answer.number]
  const steps = Map.groupBy(store.calls.listSteps(answers), ({ message }) => message)
  const calls = Map.groupBy(store.calls.listCalls(answers), ({ message }) => message)
  const findOutput = (number: number) => ({ steps: steps.get(number) ?? [], calls: calls.get(number) ?? [] })
  const { system, tools } = buildPromptContext(store, conversation, steps.size > 0)
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
    // Routes the requests of a conversation to the same prompt cache at the provider.
    prompt_cache_key: conversation.id,
    ...(isCacheBilled(model) && { cache_control: { type: 'ephemeral' } }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...rows.flatMap((row) =>
        row.role === 'assistant'
          ? toAssistantTurns(row.text, findOutput(row.number), 'past')
          : toUserTurns(
              store,
              row,
              attached.filter(({ message }) => message === row.number),
            ),
      ),
      ...toAssistantTurns(answer.text, findOutput(answer.number), 'present'),
    ],
  }
  return request
}

type RunOutput = { steps: readonly StepRow[]; calls: readonly CallRow[] }

/**
 * Splits an assistant message into the turns of its run steps. Steps without output contribute no text. Fields that a
 * provider requires back unchanged are included only for the message in progress, because a later request may use
 * another provider.
 */
export function toAssistantTurns(text: string, { steps, calls }: RunOutput, when: 'past' | 'present'): Turn[] {
  const turns: Turn[] = []
  let from = 0
  for (const { step, at: offset, carried } of steps) {
    const stepCalls = calls.filter((it) => it.step === step)
    const content = text.slice(from, offset).trim()
    from = offset
    turns.push({
      role: 'assistant',
      content: content === '' ? null : content,
      tool_calls: stepCalls.map(({ id, tool, arguments: argumentText, extra }) => ({
        id,
        type: 'function',
        function: { name: tool, arguments: parseArgumentText(argumentText) },
        ...(when === 'present' && extra !== null && { extra_content: parseJson(extra) }),
      })),
      ...(when === 'present' && (parseJson(carried) as ProviderState)),
    })
    for (const { id, output } of stepCalls) {
      turns.push({ role: 'tool', tool_call_id: id, content: output ?? 'The call has not ended.' })
    }
  }
  const rest = text.slice(from).trim()
  return rest === '' ? turns : [...turns, { role: 'assistant', content: rest }]
}

/** Providers accept only objects. Any other arguments of the model were already rejected with a reason. */
function parseArgumentText(argumentText: string): string {
  try {
    const parsed: unknown = parseJson(argumentText)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? argumentText : '{}'
  } catch {
    return '{}'
  }
}

function toUserTurns(store: ChatStore, row: MessageRow, attached: readonly StoredAttachment[]): Turn[] {
  const text = [...attached.filter(({ kind }) => kind === 'text').map((it) => quoteAttachment(store, it)), row.text]
    .filter((it) => it !== '')
    .join('\n\n')
  const images = attached.filter(({ kind }) => kind === 'image')
  if (images.length === 0) return [{ role: 'user', content: text }]
  const parts: Part[] = [
    ...images.map((image) => ({ type: 'image_url' as const, image_url: { url: toDataUrl(store, image) } })),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
  ]
  return [{ role: 'user', content: parts }]
}

function quoteAttachment(store: ChatStore, { hash, name }: StoredAttachment): string {
  const text = store.attachments.bytes(hash)?.toString('utf8') ?? ''
  return `<attachment name=${JSON.stringify(name)}>\n${text}\n</attachment>`
}

function toDataUrl(store: ChatStore, { hash, media_type }: StoredAttachment): string {
  return `data:${media_type};base64,${store.attachments.bytes(hash)?.toString('base64') ?? ''}`
}
