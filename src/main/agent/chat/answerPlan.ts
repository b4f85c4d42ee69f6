import { AppError } from '#shared/appError.ts'
import type { ChatParameters } from '#shared/contract/chats.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { MessageWeight } from './messageRepository.ts'
import { affordableOutput, costOf, worstCost } from './modelPrices.ts'
import { type SentContext, sentContext } from './sentContext.ts'
import { tokenWeight } from './tokenWeight.ts'

/** What would be sent to a model, and what that costs. */
export type AnswerPlan = {
  model: ListedModel
  context: SentContext
  wantedTokens: number
  /** So much of it is paid for; set by `plan`. */
  maxTokens: number
  /** In micro-dollars: the input alone, and the most. */
  least: number
  /** @returns what it costs at most when it may cost so much; undefined when that pays for no answer */
  plan(availableMicroUsd: number): number | undefined
}

type Given = {
  /** Of the whole branch, with the message that is to be answered at its end. */
  weights: readonly MessageWeight[]
  systemPrompt: string
  parameters: Pick<ChatParameters, 'max_tokens'>
}

/** Where nobody says how long an answer may be: as the service has it. */
const usualTokens = 16_384
/** Below that an answer says nothing, and some providers refuse it. */
const fewestTokens = 16

/** @throws AppError `chat/too-long` where not even the last message fits */
export function answerPlan(model: ListedModel, { weights, systemPrompt, parameters }: Given): AnswerPlan {
  const wantedTokens = Math.min(parameters.max_tokens ?? usualTokens, model.max_output_tokens)
  const system = { bytes: Buffer.byteLength(systemPrompt), tokens: tokenWeight(systemPrompt) }
  const room = { contextWindow: model.context_window, outputTokens: wantedTokens }
  const context = sentContext(weights, system, room)
  if (!context) {
    const takes = model.context_window.toLocaleString('en-US')
    throw new AppError(
      'chat/too-long',
      `The message is longer than ${model.id} takes (${takes} tokens with its answer).`,
    )
  }
  // Nothing is billed beyond what a model can read.
  const input = Math.min(context.mostTokens, model.context_window)
  return {
    model,
    context,
    wantedTokens,
    maxTokens: wantedTokens,
    least: costOf(model, { input: context.usualTokens, cached: 0, cacheWritten: 0, output: 0 }),
    plan(available) {
      const output = affordableOutput(model, { input, output: wantedTokens }, available)
      if (output < Math.min(fewestTokens, wantedTokens)) return undefined
      this.maxTokens = output
      return worstCost(model, { input, output })
    },
  }
}
