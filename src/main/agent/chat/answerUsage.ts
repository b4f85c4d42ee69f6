import type { AnswerUsage } from '#shared/contract/chatMessages.ts'
import type { AnswerPlan } from './answerPlan.ts'
import type { CompletionUsage } from './completionEvents.ts'
import { costOf, savedByCache } from './modelPrices.ts'

export const noUsage: AnswerUsage = {
  input_tokens: 0,
  cached_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  cost_micro_usd: 0,
  saved_micro_usd: 0,
  estimated: false,
}

/** As the service told it. */
export function exactUsage({ model }: AnswerPlan, told: CompletionUsage): AnswerUsage {
  const used = {
    input: told.inputTokens,
    cached: told.cachedTokens,
    cacheWritten: told.cacheWrittenTokens,
    output: told.outputTokens,
  }
  return {
    input_tokens: used.input,
    cached_tokens: used.cached,
    output_tokens: used.output,
    reasoning_tokens: told.reasoningTokens,
    cost_micro_usd: told.costMicroUsd ?? costOf(model, used),
    saved_micro_usd: savedByCache(model, used),
    estimated: told.estimated,
  }
}

/** @param made tokens that came so far */
export function estimatedUsage({ model, context }: AnswerPlan, made: { text: number; reasoning: number }): AnswerUsage {
  const input = context.usualTokens
  const output = Math.ceil(made.text + made.reasoning)
  return {
    input_tokens: input,
    cached_tokens: 0,
    output_tokens: output,
    reasoning_tokens: Math.ceil(made.reasoning),
    cost_micro_usd: costOf(model, { input, cached: 0, cacheWritten: 0, output }),
    saved_micro_usd: 0,
    estimated: true,
  }
}

export function sumOfUsage(one: AnswerUsage, other: AnswerUsage): AnswerUsage {
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    cost_micro_usd: one.cost_micro_usd + other.cost_micro_usd,
    saved_micro_usd: one.saved_micro_usd + other.saved_micro_usd,
    estimated: one.estimated || other.estimated,
  }
}

export function spendOf(usage: AnswerUsage) {
  return {
    costMicroUsd: usage.cost_micro_usd,
    savedMicroUsd: usage.saved_micro_usd,
    inputTokens: usage.input_tokens,
    cachedTokens: usage.cached_tokens,
    outputTokens: usage.output_tokens,
    estimated: usage.estimated,
  }
}
