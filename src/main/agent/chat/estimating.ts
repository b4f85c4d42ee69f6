import { AppError } from '#shared/appError.ts'
import type { CompletionEstimate, estimateMessage } from '#shared/contract/chatMoney.ts'
import { noParameters } from '#shared/contract/chats.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import type { Output, Parsed } from '#shared/contract/route.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ChatStore } from './chatStore.ts'
import { planCompletion } from './completionPlan.ts'
import { measureMessage, requireAttachment } from './messageDefaults.ts'
import type { MessageWeight } from './messageRepository.ts'
import type { ModelList } from './modelList.ts'
import { buildPromptContext } from './promptContext.ts'

type Dependencies = { store: ChatStore; budgets: Pick<SpendBudgets, 'states' | 'refusal'>; models: ModelList }
type EstimateRequest = Parsed<typeof estimateMessage>['body']

/**
 * Estimates the cost of a message without sending or reserving anything. @throws AppError `chat/…`,
 * `service/unavailable`
 */
export async function estimateRequest(
  { store, budgets, models }: Dependencies,
  request: EstimateRequest,
): Promise<Output<typeof estimateMessage>> {
  const conversation = request.conversation_id === null ? undefined : store.conversation(request.conversation_id)
  const parent = request.parent_id === null ? undefined : store.message(request.parent_id).message
  if (parent && parent.conversation !== conversation?.number) {
    throw new AppError('chat/message-not-found', `There is no message ${request.parent_id} in this conversation.`)
  }
  const attachments = request.attachment_ids.map((id) => requireAttachment(store, id))
  const weights: MessageWeight[] = [
    ...(parent ? store.messages.weights(parent) : []),
    { ...measureMessage(request.text, attachments), number: 0, position: 0, role: 'user' },
  ]
  const listed = await models.requireModels(request.models ?? conversation?.models ?? [])
  const own = conversation?.parameters ?? noParameters
  const parameters = {
    max_tokens: request.parameters?.max_tokens === undefined ? own.max_tokens : request.parameters.max_tokens,
  }
  const ownPrompt = request.system_prompt ?? conversation?.systemPrompt ?? ''
  const systemPrompt = buildPromptContext(store, {
    tools: conversation?.tools ?? noTools,
    systemPrompt: ownPrompt,
  }).measuredText
  const plans = listed.map((model) => planCompletion(model, { weights, systemPrompt, parameters }))

  const scope = conversation && { conversationId: conversation.id, ownLimits: conversation.limits }
  const costs = plans.map((plan) => plan.plan(Number.POSITIVE_INFINITY) ?? 0)
  // Stores the result for the last offered budget.
  const refusal = budgets.refusal(
    scope,
    plans.map((plan, index) => ({
      id: String(index),
      model: plan.model.id,
      plan(available) {
        const amount = plan.plan(available)
        if (amount !== undefined) costs[index] = amount
        return amount
      },
    })),
  )
  const estimates = plans.map(
    (plan, index): CompletionEstimate => ({
      model: plan.model.id,
      available: plan.model.available,
      context_window: plan.model.context_window,
      input_tokens: plan.context.defaultTokens,
      max_output_tokens: plan.maxTokens,
      min_micro_usd: plan.minCost,
      max_micro_usd: Math.max(plan.minCost, costs[index] ?? 0),
      omitted_messages: plan.context.omitted,
      clamped: plan.maxTokens < plan.requestedTokens,
    }),
  )
  return {
    estimates,
    min_micro_usd: estimates.reduce((sum, it) => sum + it.min_micro_usd, 0),
    max_micro_usd: estimates.reduce((sum, it) => sum + it.max_micro_usd, 0),
    budget: budgets.states(scope),
    refusal: refusal ? { code: refusal.code, message: refusal.message, hint: refusal.hint } : null,
  }
}
