import { AppError } from '#shared/appError.ts'
import type { ChatParameters } from '#shared/contract/chats.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import { estimateTokens } from './estimateTokens.ts'
import { type ContextWindow, fitContextWindow } from './fitContextWindow.ts'
import type { MessageWeight } from './messageRepository.ts'
import { affordableOutput, computeCost, worstCost } from './modelPrices.ts'

/** What would be sent to a model, and what that costs. */
export type AnswerPlan = {
  model: ListedModel
  context: ContextWindow
  requestedTokens: number
  /** So much of it is paid for; set by `plan`. */
  maxTokens: number
  /** In micro-dollars: the input alone, and the most. */
  minCost: number
  /** @returns what it costs at most when it may cost so much; undefined when that pays for no answer */
  plan(availableMicroUsd: number): number | undefined
}

type PlanOptions = {
  /** Of the whole branch, with the message that is to be answered at its end. */
  weights: readonly MessageWeight[]
  systemPrompt: string
  parameters: Pick<ChatParameters, 'max_tokens'>
}

/** Where nobody says how long an answer may be: as the service has it. */
const defaultTokens = 16_384
/** Below that an answer says nothing, and some providers refuse it. */
const minTokens = 16

/** @throws AppError `chat/too-long` where not even the last message fits */
export function planAnswer(model: ListedModel, { weights, systemPrompt, parameters }: PlanOptions): AnswerPlan {
  const requestedTokens = Math.min(parameters.max_tokens ?? defaultTokens, model.max_output_tokens)
  const system = { bytes: Buffer.byteLength(systemPrompt), tokens: estimateTokens(systemPrompt) }
  const budget = { contextWindow: model.context_window, outputTokens: requestedTokens }
  const context = fitContextWindow(weights, system, budget)
  if (!context) {
    const takes = model.context_window.toLocaleString('en-US')
    throw new AppError(
      'chat/too-long',
      `The message is longer than ${model.id} takes (${takes} tokens with its answer).`,
    )
  }
  // Nothing is billed beyond what a model can read.
  const input = Math.min(context.maxTokens, model.context_window)
  return {
    model,
    context,
    requestedTokens,
    maxTokens: requestedTokens,
    minCost: computeCost(model, { input: context.defaultTokens, cached: 0, cacheWritten: 0, output: 0 }),
    plan(available) {
      const output = affordableOutput(model, { input, output: requestedTokens }, available)
      if (output < Math.min(minTokens, requestedTokens)) return undefined
      this.maxTokens = output
      return worstCost(model, { input, output })
    },
  }
}
