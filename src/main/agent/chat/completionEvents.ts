import { z } from 'zod'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { AppError } from '#shared/appError.ts'
import type { ProviderState, ToolCallDelta } from './toolCallAccumulator.ts'

/** Maximum index of a call in a step. */
const maxIndex = 1_000

/** Events of a completion in progress. */
export type CompletionEvent =
  | { type: 'delta'; text: string; reasoning: string }
  | { type: 'call'; delta: ToolCallDelta }
  | { type: 'carried'; carried: ProviderState }
  | { type: 'finish'; reason: string }
  | { type: 'usage'; usage: CompletionUsage }
  | { type: 'error'; error: object; detail: unknown }
  | { type: 'done' }

export type CompletionUsage = {
  inputTokens: number
  cachedTokens: number
  cacheWrittenTokens: number
  outputTokens: number
  reasoningTokens: number
  /** Cost in micro-dollars. Undefined if the service reports no cost. */
  costMicroUsd: number | undefined
  estimated: boolean
}

const count = z.int().min(0).catch(0)
const text = z.string().catch('')
const CallDelta = z.object({
  index: z.int().min(0).max(maxIndex).catch(0),
  function: z.object({ name: text, arguments: text }).catch({ name: '', arguments: '' }),
  extra_content: z.unknown().optional(),
})
const Chunk = z.object({
  error: z.looseObject({}).nullish().catch(null),
  detail: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: text,
            reasoning_content: text,
            refusal: text,
            tool_calls: z.array(CallDelta).catch([]),
            reasoning_details: z.array(z.unknown()).optional().catch(undefined),
            extra_content: z.unknown().optional(),
          })
          .nullish()
          .catch(null),
        finish_reason: z.string().nullish().catch(null),
        native_finish_reason: z.string().nullish().catch(null),
      }),
    )
    .catch([]),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count, cache_write_tokens: count }).nullish().catch(null),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish().catch(null),
      cost: z
        .object({ micro_usd: z.int().min(0), estimated: z.boolean() })
        .nullish()
        .catch(null),
    })
    .nullish()
    .catch(null),
})

/** @throws AppError `inference/upstream` if the data is not a chat completion chunk */
export function parseCompletionEvents(data: string): CompletionEvent[] {
  if (data.trim() === '[DONE]') return [{ type: 'done' }]
  const { error, detail, choices, usage } = parseChunk(data)
  if (error) return [{ type: 'error', error, detail }]
  const [choice] = choices
  const delta = choice?.delta
  const reason = choice?.finish_reason
  return [
    ...(delta && (delta.content !== '' || delta.reasoning_content !== '' || delta.refusal !== '')
      ? [{ type: 'delta' as const, text: delta.content + delta.refusal, reasoning: delta.reasoning_content }]
      : []),
    ...(delta?.tool_calls ?? []).map(({ index, function: { name, arguments: args }, extra_content: extra }) => ({
      type: 'call' as const,
      delta: { index, name, arguments: args, extra },
    })),
    ...(delta?.reasoning_details || delta?.extra_content !== undefined
      ? [{ type: 'carried' as const, carried: readProviderState(delta) }]
      : []),
    ...(reason ? [{ type: 'finish' as const, reason }] : []),
    ...(usage ? [{ type: 'usage' as const, usage: toUsage(usage) }] : []),
  ]
}

function readProviderState({ reasoning_details, extra_content }: ProviderState): ProviderState {
  return { ...(reasoning_details && { reasoning_details }), ...(extra_content !== undefined && { extra_content }) }
}

function parseChunk(data: string): z.output<typeof Chunk> {
  try {
    return Chunk.parse(parseJson(data))
  } catch (cause) {
    throw createUnreadableError(cause)
  }
}

function createUnreadableError(cause: unknown): AppError {
  return new AppError('inference/upstream', 'A chunk of the response could not be read.', { cause })
}

function toUsage(usage: NonNullable<z.output<typeof Chunk>['usage']>): CompletionUsage {
  return {
    inputTokens: usage.prompt_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWrittenTokens: usage.prompt_tokens_details?.cache_write_tokens ?? 0,
    outputTokens: usage.completion_tokens,
    reasoningTokens: usage.completion_tokens_details?.reasoning_tokens ?? 0,
    costMicroUsd: usage.cost?.micro_usd,
    estimated: usage.cost?.estimated ?? true,
  }
}
