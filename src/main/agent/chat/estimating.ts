import { AppError } from '#shared/appError.ts'
import type { AnswerEstimate, estimateMessage } from '#shared/contract/chatMoney.ts'
import { noParameters } from '#shared/contract/chats.ts'
import { noTools } from '#shared/contract/chatTools.ts'
import type { Output, Parsed } from '#shared/contract/route.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import { answerPlan } from './answerPlan.ts'
import type { ChatStore } from './chatStore.ts'
import { toolboxOf } from './chatToolbox.ts'
import type { MessageWeight } from './messageRepository.ts'
import type { ModelList } from './modelList.ts'
import { attachmentOf, weightOf } from './newMessages.ts'

type Parts = { store: ChatStore; budgets: Pick<SpendBudgets, 'states' | 'refusal'>; models: ModelList }
type Asked = Parsed<typeof estimateMessage>['body']

/** What a message would cost, with nothing sent or reserved. @throws AppError `chat/…`, `service/unavailable` */
export async function estimated(
  { store, budgets, models }: Parts,
  asked: Asked,
): Promise<Output<typeof estimateMessage>> {
  const conversation = asked.conversation_id === null ? undefined : store.conversation(asked.conversation_id)
  const parent = asked.parent_id === null ? undefined : store.message(asked.parent_id).message
  if (parent && parent.conversation !== conversation?.number) {
    throw new AppError('chat/message-not-found', `There is no message ${asked.parent_id} in this conversation.`)
  }
  const attachments = asked.attachment_ids.map((id) => attachmentOf(store, id))
  const weights: MessageWeight[] = [
    ...(parent ? store.messages.weights(parent) : []),
    { ...weightOf(asked.text, attachments), number: 0, position: 0, role: 'user' },
  ]
  const listed = await models.named(asked.models ?? conversation?.models ?? [])
  const own = conversation?.parameters ?? noParameters
  const parameters = {
    max_tokens: asked.parameters?.max_tokens === undefined ? own.max_tokens : asked.parameters.max_tokens,
  }
  const ownPrompt = asked.system_prompt ?? conversation?.systemPrompt ?? ''
  const systemPrompt = toolboxOf(store, { tools: conversation?.tools ?? noTools, systemPrompt: ownPrompt }).weighed
  const plans = listed.map((model) => answerPlan(model, { weights, systemPrompt, parameters }))

  const place = conversation && { conversationId: conversation.id, ownLimits: conversation.limits }
  const most = plans.map((plan) => plan.plan(Number.POSITIVE_INFINITY) ?? 0)
  // The last offer of money is the one that the plans keep.
  const refusal = budgets.refusal(
    place,
    plans.map((plan, at) => ({
      id: String(at),
      model: plan.model.id,
      plan(available) {
        const amount = plan.plan(available)
        if (amount !== undefined) most[at] = amount
        return amount
      },
    })),
  )
  const estimates = plans.map(
    (plan, at): AnswerEstimate => ({
      model: plan.model.id,
      available: plan.model.available,
      context_window: plan.model.context_window,
      input_tokens: plan.context.usualTokens,
      max_output_tokens: plan.maxTokens,
      min_micro_usd: plan.least,
      max_micro_usd: Math.max(plan.least, most[at] ?? 0),
      omitted_messages: plan.context.omitted,
      clamped: plan.maxTokens < plan.wantedTokens,
    }),
  )
  return {
    estimates,
    min_micro_usd: estimates.reduce((sum, it) => sum + it.min_micro_usd, 0),
    max_micro_usd: estimates.reduce((sum, it) => sum + it.max_micro_usd, 0),
    budget: budgets.states(place),
    refusal: refusal ? { code: refusal.code, message: refusal.message, hint: refusal.hint } : null,
  }
}
