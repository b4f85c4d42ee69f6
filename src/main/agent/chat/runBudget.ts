import type { MessageUsage } from '#shared/contract/chatMessages.ts'
import type { ListedModel } from '#shared/contract/inference.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { CallRow } from './callRepository.ts'
import type { ChatStore } from './chatStore.ts'
import { type CompletionPlan, planCompletion } from './completionPlan.ts'
import type { StoredConversation } from './conversationRepository.ts'
import { estimateTokens } from './estimateTokens.ts'
import type { MessageRow } from './messageRepository.ts'
import { buildPromptContext } from './promptContext.ts'
import { estimateUsage, noUsage, sumUsage } from './runUsage.ts'

/** State of an assistant message across its run steps, each of which is reserved and settled separately. */
export type RunBudget = {
  readonly plan: CompletionPlan
  readonly reservation: { id: string; microUsd: number }
  /** Usage of the previous steps. */
  readonly usage: MessageUsage
  /** Estimates the usage of all steps so far. */
  estimateUsage(tokens: { text: number; reasoning: number }): MessageUsage
  /** Called after a step was settled. */
  stepEnded(usage: MessageUsage): void
  /**
   * Reserves the next run step under the current settings of the conversation.
   * @returns false if the limit per message leaves too little
   * @throws AppError `budget/exceeded`, `chat/too-long`
   */
  nextStep(text: string, conversation: StoredConversation): boolean
}

type RunBudgetOptions = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'reserve'>
  row: MessageRow
  plan: CompletionPlan
  reservedMicroUsd: number
}

export function createRunBudget({ store, budgets, row, ...options }: RunBudgetOptions): RunBudget {
  let { plan } = options
  let reservation = { id: row.id, microUsd: options.reservedMicroUsd }
  let spent = noUsage
  let step = 1
  /** False while tools run between two steps, which costs no model usage. */
  let isRunning = true
  let before = { text: 0, reasoning: 0 }
  let output = { text: 0, reasoning: 0 }

  return {
    get plan() {
      return plan
    },
    get reservation() {
      return reservation
    },
    get usage() {
      return spent
    },
    estimateUsage(tokens) {
      output = { ...tokens }
      if (!isRunning) return spent
      const stepOutput = { text: output.text - before.text, reasoning: output.reasoning - before.reasoning }
      return sumUsage(spent, estimateUsage(plan, stepOutput))
    },
    stepEnded(usage) {
      spent = sumUsage(spent, usage)
      before = output
      isRunning = false
    },
    nextStep(text, conversation) {
      const remaining = getRunLimit(conversation) - spent.cost_micro_usd
      const next = planStep({ store, row, conversation, model: plan.model, text })
      if (next.plan(remaining) === undefined) return false
      step += 1
      const id = `${row.id}.${step}`
      let microUsd = 0
      budgets.reserve({ conversationId: conversation.id, ownLimits: conversation.limits }, [
        {
          id,
          model: next.model.id,
          plan(available) {
            const amount = next.plan(Math.min(available, remaining))
            microUsd = amount ?? 0
            return amount
          },
        },
      ])
      plan = next
      isRunning = true
      reservation = { id, microUsd }
      return true
    },
  }
}

/** Returns the cost limit of a run in micro-dollars, or `Infinity` without a limit. */
export function getRunLimit({ tools }: StoredConversation): number {
  return tools.enabled ? (tools.max_turn_micro_usd ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
}

type StepOptions = {
  store: ChatStore
  row: MessageRow
  conversation: StoredConversation
  model: ListedModel
  text: string
}

/**
 * Plans the next step. The assistant message so far is measured with its user message, so that neither is omitted
 * without the other.
 */
function planStep({ store, row, conversation, model, text }: StepOptions): CompletionPlan {
  const [userMessage] = store.messages.findByNumbers([row.parent])
  const weights = userMessage ? store.messages.weights(userMessage) : []
  const size = measureOutput(text, store.calls.listCalls([row.number]))
  const last = weights.at(-1)
  const enlarged = last && { ...last, bytes: last.bytes + size.bytes, tokens: last.tokens + size.tokens }
  return planCompletion(model, {
    weights: enlarged ? [...weights.slice(0, -1), enlarged] : [],
    systemPrompt: buildPromptContext(store, conversation).measuredText,
    parameters: conversation.parameters,
  })
}

/** Measures all parts of an assistant message that are sent back to the model. */
export function measureOutput(text: string, calls: readonly CallRow[]): { bytes: number; tokens: number } {
  const parts = [text, ...calls.flatMap((call) => [call.tool, call.arguments, call.output ?? ''])]
  const frames = 64 * calls.length
  return {
    bytes: frames + parts.reduce((sum, it) => sum + Buffer.byteLength(it), 0),
    tokens: Math.ceil(frames / 4 + parts.reduce((sum, it) => sum + estimateTokens(it), 0)),
  }
}
