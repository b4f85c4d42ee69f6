import { getBuiltFile } from '#platform/program/programFile.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { type ActivitySettingsStore, createActivitySettings } from '../activity/activitySettings.ts'
import { recordConnections } from '../activity/connectionNotes.ts'
import { createRetention } from '../activity/retention.ts'
import { createServiceActivitySync, hostedRateLimit } from '../activity/serviceActivitySync.ts'
import { createSettingsRepository } from '../activity/settingsRepository.ts'
import { createSettingsRoutes } from '../activity/settingsRoutes.ts'
import type { ChatTitles } from '../activity/taskTotals.ts'
import { createTimelineRoutes } from '../activity/timelineRoutes.ts'
import type { LocalRoutesOptions } from '../api/localRoutes.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { createSharedBudget } from '../budgets/paymentBudgets.ts'
import { combineReservations } from '../budgets/paymentReservations.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { createWalletLinkRepository } from '../connections/walletLinkRepository.ts'
import { createWalletUnlinking } from '../connections/walletUnlinking.ts'
import { createExistingResourceRepository } from '../references/existingResourceRepository.ts'
import { followRemovedResources } from '../references/followRemovedResources.ts'
import type { SecurePromptPages } from '../securePrompts/securePromptPages.ts'
import { createSecurePrompts, type SecurePrompts } from '../securePrompts/securePrompts.ts'
import type { McpEndpoint } from '../tools/mcpEndpoint.ts'
import type { StdioAccess } from '../tools/stdioAccess.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import { requireStrong } from '../wallet/passphrases.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import { type AgentContext, type AgentOptions, createAgentContext } from './agentContext.ts'
import { composeApprovals } from './composeApprovals.ts'
import { composeAuthority } from './composeAuthority.ts'
import { composeBudgets } from './composeBudgets.ts'
import { composeChat } from './composeChat.ts'
import { composeConnections } from './composeConnections.ts'
import { composeDomains } from './composeDomains.ts'
import { composeIdentity } from './composeIdentity.ts'
import { composePayments, createPurchaseReservations } from './composePayments.ts'
import { composeProviders } from './composeProviders.ts'
import { composeRecordings } from './composeRecordings.ts'
import { composeRenewals } from './composeRenewals.ts'
import { composeToolServers } from './composeToolServers.ts'
import { composeTools } from './composeTools.ts'
import { composeWallet } from './composeWallet.ts'

type Dependencies = { approvals: Pick<Approvals, 'policy'>; stopAll: readonly (() => void)[] }

export type AgentModule = {
  database: Database
  client: ServiceClient
  recordActivity: RecordActivity
  wallet: WalletVault
  /** Pages on which the user enters and views secrets. */
  prompts: SecurePromptPages
  approvals: Approvals
  tools: ToolExecutor
  mcp: McpEndpoint
  stdioAccess: StdioAccess
  identifyClient: LocalRoutesOptions['identifyClient']
  tasks: LocalRoutesOptions['tasks']
  principals: AgentPrincipals
  /** Clock for the expiry of credentials, see `Clock`. */
  latestMs: () => number
  /** Endpoints in addition to those of the API itself. */
  endpoints: readonly LocalEndpoint[]
}

/**
 * Composes the features of the agent in dependency order: wallet, activity, budgets, providers, tool servers,
 * authority, signer and approvals, sign-in, secure prompts, identity, domains, payments, renewals, tools. Features
 * depend on each other by types only and are connected here.
 */
export function composeAgent(options: AgentOptions): AgentModule {
  const { link, hosted } = options
  const context = createAgentContext(options)
  const unlinking = createWalletUnlinking(createWalletLinkRepository(context.database))
  const wallet = composeWallet(context, {
    removal({ keyring: { label, accounts }, unlinksAll = false }, remove) {
      const ids = new Set(accounts.map(({ id }) => id))
      approvals.removeAccounts({ ids, detail: `You removed “${label}” from the wallet.` }, () => {
        unlinking.removeAddresses(
          accounts.map(({ address }) => address),
          { unlinksAll },
        )
        remove()
      })
    },
  })
  const vault = wallet.wallet
  const activity = composeActivity(context, { wallet: vault, chatTitles: (ids) => chat.titles(ids) })
  /** Available before any sign-in. */
  const hostedTarget = hosted && { url: hosted.url, key: '', certificate: undefined, authority: hosted.authority }
  const serviceTarget = () => link.target() ?? hostedTarget
  const budget = composeBudgets(context)
  const providers = composeProviders(context)
  const toolServer = composeToolServers(context, providers)
  const authority = composeAuthority(context, {
    ...{ wallet: vault, budget, externalTools: toolServer.externalTools, serviceTarget },
    review: () => approval.approvals.review(),
  })
  const approval = composeApprovals(context, {
    ...{ authority, wallet: vault },
    serviceTarget,
    paymentReservations: combineReservations([createPurchaseReservations(context.database), budget.reservations]),
    beforeSigning: (record) => payment.payments.checkBeforeSigning(record),
  })
  const { approvals, policy } = approval
  const connection = composeConnections(context, { wallet: vault, approvals, serviceTarget })
  const prompts = composeSecurePrompts(context, {
    vault,
    unlinking,
    approvals,
    policy,
    providers: { ...providers, toolServers: toolServer.servers },
  })
  const identity = composeIdentity(context, { ...approval, getRights: authority.getRights, wallet: vault })
  const domains = composeDomains(context)
  const { principals } = authority
  const payment = composePayments(context, { principals, approval, budget, wallet: vault, serviceTarget })
  const renewal = composeRenewals(context, { approvals, budgets: budget.budgets, domains, payment })
  const recordings = composeRecordings(context, activity)
  const tools = composeTools(context, {
    ...{
      ...approval,
      authority,
      externalTools: toolServer.externalTools,
      budgets: budget.toolBudgets,
      payments: payment.rows,
    },
    endpoints: () => endpoints,
  })
  const chat = composeChat(context, {
    shared: createSharedBudget(budget.budgets),
    executor: tools.executor,
    externalTools: toolServer.externalTools,
    approvals,
    principals,
    providerKeys: providers.keys,
  })
  followRemovals(context)
  followStop(context, { approvals, stopAll: [chat.stopAll, tools.executor.stopAll] })
  const endpoints: readonly LocalEndpoint[] = [
    ...activity.endpoints,
    ...wallet.endpoints,
    ...connection.endpoints,
    ...prompts.endpoints,
    ...approval.endpoints,
    ...identity.endpoints,
    ...chat.endpoints,
    ...providers.endpoints,
    ...domains.endpoints,
    ...payment.endpoints,
    ...renewal.endpoints,
    ...recordings.endpoints,
    ...tools.endpoints,
    ...toolServer.endpoints,
  ]
  return {
    database: context.database,
    client: context.client,
    recordActivity: context.activity.record,
    wallet: vault,
    approvals,
    tools: tools.executor,
    mcp: tools.mcp,
    stdioAccess: tools.stdioAccess,
    prompts: prompts.pages,
    identifyClient: connection.identifyClient,
    tasks: context.tasks,
    principals,
    latestMs: context.clock.latestMs,
    endpoints,
  }
}

type PromptOptions = Pick<
  Parameters<typeof createSecurePrompts>[0],
  'vault' | 'unlinking' | 'approvals' | 'policy' | 'providers'
>

function composeSecurePrompts({ link, scope, log, now }: AgentContext, options: PromptOptions): SecurePrompts {
  return scope.own(
    createSecurePrompts({
      ...options,
      service: link.status,
      requireStrong,
      pagesFolder: getBuiltFile('renderer'),
      now,
      log: log.forArea('secure-prompts'),
    }),
    (it) => it.close(),
  )
}

/** Follows removals at the service and applies them to the references of this agent. */
function followRemovals({ database, connectedService, link, client, removedThings, scope, log }: AgentContext): void {
  scope.own(
    followRemovedResources({
      link,
      client,
      removed: removedThings,
      log: log.forArea('references'),
      records: createExistingResourceRepository(database, connectedService),
    }),
    (it) => it.close(),
  )
}

/** Composes the activity log, which also follows the connection and the activity of the service. */
function composeActivity(
  { activity, database, link, client, scope, now, clock, ...context }: AgentContext,
  { wallet, chatTitles }: { wallet: Pick<WalletVault, 'accounts'>; chatTitles: ChatTitles },
): { settings: ActivitySettingsStore; endpoints: LocalEndpoint[] } {
  const log = context.log.forArea('activity')
  const isOwn = (address: string): boolean => wallet.accounts().some((account) => account.address === address)
  const settings = createActivitySettings({
    settings: createSettingsRepository(database),
    recordActivity: activity.record,
    now,
  })
  scope.own(recordConnections({ link, recordActivity: activity.record }), (it) => it.close())
  const pace = context.hosted && hostedRateLimit
  scope.own(
    createServiceActivitySync({ link, client, timeline: activity, isOwn, pace, now: clock.runningMs, log }),
    (it) => it.close(),
  )
  scope.own(createRetention({ timeline: activity, settings, passedMs: clock.passedMs, log }), (it) => it.close())
  return { settings, endpoints: [...createTimelineRoutes(activity, chatTitles), ...createSettingsRoutes(settings)] }
}

/**
 * Extends the stop switch to actions without approval: models called with API keys, running chats, and calls in
 * progress.
 */
function followStop({ notifyService, events, scope }: AgentContext, { approvals, stopAll }: Dependencies): void {
  let isStopped = approvals.policy().stopped
  const notify = (): void => notifyService?.({ event: 'models-stopped', stopped: isStopped })
  if (isStopped) notify()
  const unsubscribe = events.subscribe((event) => {
    if (event.type !== 'policy.changed' || event.policy.stopped === isStopped) return
    isStopped = event.policy.stopped
    notify()
    if (isStopped) for (const stop of stopAll) stop()
  })
  scope.own(unsubscribe, (end) => end())
}
