import { createPrincipals, type PrincipalId } from '#platform/access/principals.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { noAccount } from '#shared/contract/intents.ts'
import type { PolicyEvaluation } from '../approvals/evaluateIntent.ts'
import { createGrantRepository } from '../approvals/grantRepository.ts'
import { createPolicyEvaluator } from '../approvals/policyEvaluator.ts'
import { createPolicyRepository } from '../approvals/policyRepository.ts'
import { toPolicyInput } from '../approvals/toPolicyInput.ts'
import {
  type AgentPrincipals,
  getPrincipalKind,
  type LeaseHolder,
  type PrincipalRights,
  toEndedError,
} from '../base/agentPrincipals.ts'
import type { EvaluateAction, RequestContext } from '../base/evaluateAction.ts'
import { toRequesterKey } from '../base/toolCaller.ts'
import { defaultToolPolicy } from '../base/toolRights.ts'
import { createConversationRepository, type StoredConversation } from '../chat/conversationRepository.ts'
import { type ClientPresence, createClientPresence } from '../connections/clientPresence.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import { createPaymentRepository } from '../payments/paymentRepository.ts'
import { type ActionTargets, createActionTargets } from '../references/actionTargets.ts'
import type { ExternalTools } from '../toolServers/externalTools.ts'
import { createToolServerRepository } from '../toolServers/toolServerRepository.ts'
import { stdioRights } from '../tools/stdioAccess.ts'
import { createOverBudgetError } from '../tools/toolBudgets.ts'
import { createToolCallRepository } from '../tools/toolCallRepository.ts'
import { createToolClientRepository, type ToolClientRepository } from '../tools/toolClientRepository.ts'
import { toClientRights } from '../tools/toolClients.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import type { AgentContext } from './agentContext.ts'
import type { BudgetModule } from './composeBudgets.ts'
import { createMayNow } from './mayNow.ts'
import { createRequestContext } from './requestContext.ts'

export type AuthorityModule = {
  principals: AgentPrincipals
  /** @returns undefined if the principal has ended */
  getRights: (principal: PrincipalId) => PrincipalRights | undefined
  /** API keys and sign-ins of the service that have ended. */
  presence: ClientPresence
  verdictOn: (request: IntentRecord) => PolicyEvaluation
  mayNow: EvaluateAction
  context: RequestContext
  targets: ActionTargets
  toolClientRows: ToolClientRepository
}

type AuthorityOptions = {
  wallet: Pick<WalletVault, 'accounts'>
  budget: BudgetModule
  externalTools: Pick<ExternalTools, 'findTool'>
  serviceTarget: () => ServiceTarget | undefined
  review: () => void
}

/** Composes the registry of principals and the function that evaluates what they may do now. */
export function composeAuthority(
  { database, link, client, events, removedThings, scope, log, clock }: AgentContext,
  { wallet, budget, externalTools, serviceTarget, review }: AuthorityOptions,
): AuthorityModule {
  const toolClientRows = createToolClientRepository(database)
  const conversations = createConversationRepository(database)
  const policies = createPolicyRepository(database)
  const servers = createToolServerRepository(database)

  const rightsByKind: Readonly<Record<string, (id: string) => PrincipalRights | undefined>> = {
    tool(id) {
      if (id === stdioRights.id) return stdioRights
      const toolClient = toolClientRows.find(id)
      return toolClient && { tools: toClientRights(toolClient) }
    },
    chat(id) {
      const conversation = conversations.find(id)
      return conversation && conversation.deletedAtMs === null ? toConversationRights(conversation) : undefined
    },
    key: (id) => presence.getRights(`key:${id}`),
    token: (id) => presence.getRights(`token:${id}`),
    wallet: (id) => (id === noAccount || wallet.accounts().some((account) => account.id === id) ? noRights : undefined),
  }
  const getRights = (principal: PrincipalId): PrincipalRights | undefined => {
    const kind = getPrincipalKind(principal)
    const read = rightsByKind[kind]
    return read ? read(principal.slice(kind.length + 1)) : noRights
  }
  const principals = createPrincipals<PrincipalRights, LeaseHolder>({ getRights, endedError: toEndedError })
  const presence = scope.own(
    createClientPresence({ link, client, removed: removedThings, principals, log: log.forArea('principals') }),
    (it) => it.close(),
  )
  const unsubscribe = events.subscribe(({ type }) => {
    if (type === 'wallet.changed') principals.endAbsent()
  })
  scope.own(unsubscribe, (unsubscribe) => unsubscribe())

  const context = createRequestContext({
    calls: createToolCallRepository(database),
    payments: createPaymentRepository(database),
    findTool: externalTools.findTool,
  })
  const targets = scope.own(
    createActionTargets({
      ...{ client, events, removed: removedThings, onRemoved: review },
      hasToolServer: (name) => servers.findByName(name) !== undefined,
    }),
    (it) => it.close(),
  )
  const verdictOn = createPolicyEvaluator({
    grants: createGrantRepository(database),
    policies,
    serviceHost() {
      const url = serviceTarget()?.url
      return url === undefined ? undefined : new URL(url).host
    },
    now: clock.latestMs,
  })
  const mayNow = createMayNow({
    ...{ getRights, verdictOn, context },
    now() {
      clock.check() // adjusts deadlines if the clock was set
      return clock.now()
    },
    isStopped: () => policies.read().stopped,
    budgetRefusal(request, limit) {
      if (limit === null || request.kind !== 'x402.authorize') return undefined
      const spentToday = budget.toolBudgets.sumSpentToday(toRequesterKey(request))
      const amount = Number(request.amount_micro_usd)
      return spentToday > limit ? createOverBudgetError(limit, limit - (spentToday - amount)) : undefined
    },
    limitRefusal(request) {
      if (request.kind !== 'x402.authorize') return undefined
      const refusal = budget.budgets.refusal({ ...toPolicyInput(request), by: 'person' })
      return refusal?.effect === 'deny' ? refusal.detail : undefined
    },
    isRemoved: targets.isRemoved,
  })
  return { principals, getRights, presence, verdictOn, mayNow, context, targets, toolClientRows }
}

const noRights: PrincipalRights = {}

/** Returns the tool rights that the settings of a conversation currently grant to its models. */
function toConversationRights({ tools }: StoredConversation): PrincipalRights {
  if (!tools.enabled) return noRights
  const { profile, max_day_micro_usd: dailyBudgetMicroUsd, servers } = tools
  return { tools: { profile, policy: defaultToolPolicy, dailyBudgetMicroUsd, dryRun: false, servers } }
}
