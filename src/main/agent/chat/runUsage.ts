import type { MessageUsage } from '#shared/contract/chatMessages.ts'
import type { CompletionUsage } from './completionEvents.ts'
import type { CompletionPlan } from './completionPlan.ts'
import { computeCacheSavings, computeCost } from './modelPrices.ts'

export const noUsage: MessageUsage = {
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost_micro_usd: 0,
  saved_micro_usd: 0,
  estimated: false,
}

/** Returns the usage that the service reported. */
export function computeExactUsage({ model }: CompletionPlan, reported: CompletionUsage): MessageUsage {
  const used = {
    input: reported.inputTokens,
    cached: reported.cachedTokens,
    cacheWritten: reported.cacheWrittenTokens,
    output: reported.outputTokens,
  }
  return {
    input_tokens: used.input,
    cached_tokens: used.cached,
    output_tokens: used.output,
    reasoning_tokens: reported.reasoningTokens,
    cost_micro_usd: reported.costMicroUsd ?? computeCost(model, used),
    saved_micro_usd: computeCacheSavings(model, used),
    estimated: reported.estimated,
  }
}

/** @param produced tokens received so far */
export function estimateUsage(
  { model, context }: CompletionPlan,
  produced: { text: number; reasoning: number },
): MessageUsage {
  const input = context.defaultTokens
  const output = Math.ceil(produced.text + produced.reasoning)
  return {
    input_tokens: input,
    cached_tokens: 0,
    output_tokens: output,
    reasoning_tokens: Math.ceil(produced.reasoning),
    cost_micro_usd: computeCost(model, { input, cached: 0, cacheWritten: 0, output }),
    saved_micro_usd: 0,
    estimated: true,
  }
}

export function sumUsage(a: MessageUsage, b: MessageUsage): MessageUsage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    cost_micro_usd: a.cost_micro_usd + b.cost_micro_usd,
    saved_micro_usd: a.saved_micro_usd + b.saved_micro_usd,
    estimated: a.estimated || b.estimated,
  }
}

export function toSpend(usage: MessageUsage) {
  return {
    costMicroUsd: usage.cost_micro_usd,
    savedMicroUsd: usage.saved_micro_usd,
    inputTokens: usage.input_tokens,
    cachedTokens: usage.cached_tokens,
    outputTokens: usage.output_tokens,
    estimated: usage.estimated,
  }
}
