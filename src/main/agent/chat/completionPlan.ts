import { AppError } from '#shared/appError.ts'
import type { ChatParameters } from '#shared/contract/chats.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import { estimateTokens } from './estimateTokens.ts'
import { type ContextWindow, fitContextWindow } from './fitContextWindow.ts'
import type { MessageWeight } from './messageRepository.ts'
import { computeAffordableOutput, computeCost, computeWorstCost } from './modelPrices.ts'

/** Request to a model, with its cost. */
export type CompletionPlan = {
  model: ListedModel
  context: ContextWindow
  requestedTokens: number
  /** Output tokens covered by the reservation. Set by `plan`. */
  maxTokens: number
  /** Cost of the input only, in micro-dollars. */
  minCost: number
  /**
   * @returns the maximum cost within the available amount, or undefined if the amount is insufficient for any
   * completion
   */
  plan(availableMicroUsd: number): number | undefined
}

type PlanOptions = {
  /** Weights of the whole branch, including the message to reply to. */
  weights: readonly MessageWeight[]
  systemPrompt: string
  parameters: Pick<ChatParameters, 'max_tokens'>
}

/** Output limit if the request sets none. Equals the service's default. */
const defaultTokens = 16_384
/** Minimum useful output. Some providers reject smaller limits. */
const minTokens = 16

/** @throws AppError `chat/too-long` if not even the last message fits */
export function planCompletion(model: ListedModel, { weights, systemPrompt, parameters }: PlanOptions): CompletionPlan {
  const requestedTokens = Math.min(parameters.max_tokens ?? defaultTokens, model.max_output_tokens)
  const system = { bytes: Buffer.byteLength(systemPrompt), tokens: estimateTokens(systemPrompt) }
  const budget = { contextWindow: model.context_window, outputTokens: requestedTokens }
  const context = fitContextWindow(weights, system, budget)
  if (!context) {
    const takes = model.context_window.toLocaleString('en-US')
    throw new AppError(
      'chat/too-long',
      `The message exceeds the context of ${model.id} (${takes} tokens including the response).`,
    )
  }
  // Input beyond the context window is not billed.
  const input = Math.min(context.maxTokens, model.context_window)
  return {
    model,
    context,
    requestedTokens,
    maxTokens: requestedTokens,
    minCost: computeCost(model, { input: context.defaultTokens, cached: 0, cacheWritten: 0, output: 0 }),
    plan(available) {
      const output = computeAffordableOutput(model, { input, output: requestedTokens }, available)
      if (output < Math.min(minTokens, requestedTokens)) return undefined
      this.maxTokens = output
      return computeWorstCost(model, { input, output })
    },
  }
}
