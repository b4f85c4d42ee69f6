import { builtFile } from '#platform/programFile.ts'
import type { Database } from '#storage/openDatabase.ts'
import type { LocalRoutesOptions } from '../api/localRoutes.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { createSharedBudget } from '../budgets/paymentBudgets.ts'
import { allReservations } from '../budgets/paymentReservations.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { createWalletLinkRepository } from '../connections/walletLinkRepository.ts'
import { createWalletUnlinking } from '../connections/walletUnlinking.ts'
import { createExistingThingRepository } from '../references/existingThingRepository.ts'
import { followRemovedThings } from '../references/followRemovedThings.ts'
import type { SheetPages } from '../sheets/sheetPages.ts'
import { createWalletSheets } from '../sheets/walletSheets.ts'
import type { McpEndpoint } from '../tools/mcpEndpoint.ts'
import type { StdioDoor } from '../tools/stdioDoor.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import { requireStrong } from '../wallet/passphrases.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import { composeActivity } from './activityParts.ts'
import { type AgentOptions, createAgentGround } from './agentContext.ts'
import { composeApproval } from './approvalParts.ts'
import { composeAuthority } from './authorityParts.ts'
import { composeBudget } from './budgetParts.ts'
import { composeChat } from './chatParts.ts'
import { composeConnection } from './connectionParts.ts'
import { composeDomain } from './domainParts.ts'
import { composeIdentity } from './identityParts.ts'
import { composePayment, createPurchaseReservations } from './paymentParts.ts'
import { composeProvider } from './providerParts.ts'
import { composeRecording } from './recordingParts.ts'
import { composeRenewal } from './renewalParts.ts'
import { followStop } from './stopParts.ts'
import { composeTool } from './toolParts.ts'
import { composeToolServer } from './toolServerParts.ts'
import { composeWallet } from './walletParts.ts'

export type AgentParts = {
  database: Database
  client: ServiceClient
  note: RecordActivity
  wallet: WalletVault
  /** Pages on which the user enters and views secrets. */
  sheets: SheetPages
  approvals: Approvals
  tools: ToolExecutor
  /** Answers `/mcp`. */
  mcp: McpEndpoint
  stdioDoor: StdioDoor
  identifyClient: LocalRoutesOptions['identifyClient']
  tasks: LocalRoutesOptions['tasks']
  principals: AgentPrincipals
  /** Endpoints besides those of the API itself. */
  endpoints: readonly LocalEndpoint[]
}

/**
 * Makes the slices of the agent, in the order in which they need each other: wallet, activity, budgets, providers,
 * tool servers, authority, signer and approvals, sign-in, sheets, identity, domains, payments, renewals, tools. A slice knows the others by their types alone; here they meet.
 */
export function composeAgent(options: AgentOptions): AgentParts {
  const { link, hosted, scope, log, now } = options
  const ground = createAgentGround(options)
  const unlinking = createWalletUnlinking(createWalletLinkRepository(ground.database))
  const wallet = composeWallet(ground, {
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
  const activity = composeActivity(ground, { wallet: vault, chatTitles: (ids) => chat.titles(ids) })
  /** Known before anybody is signed in there. */
  const hostedTarget = hosted && { url: hosted.url, key: '', certificate: undefined, authority: hosted.authority }
  const serviceTarget = () => link.target() ?? hostedTarget
  const budget = composeBudget(ground)
  const providers = composeProvider(ground)
  const toolServer = composeToolServer(ground, providers)
  const authority = composeAuthority(ground, {
    ...{ wallet: vault, budget, served: toolServer.served, serviceTarget },
    review: () => approval.approvals.review(),
  })
  const approval = composeApproval(ground, {
    ...{ authority, wallet: vault },
    serviceTarget,
    paymentReservations: allReservations([createPurchaseReservations(ground.database), budget.reservations]),
    beforeSigning: (record) => payment.payments.checkBeforeSigning(record),
  })
  const { approvals, policy } = approval
  const connection = composeConnection(ground, { wallet: vault, approvals, serviceTarget })
  const sheets = scope.own(
    createWalletSheets({
      vault,
      unlinking,
      service: link.status,
      requireStrong,
      approvals,
      policy,
      providers: { ...providers, toolServers: toolServer.servers },
      pagesFolder: builtFile('renderer'),
      now,
      log: log.forArea('sheets'),
    }),
    (it) => it.close(),
  )
  const identity = composeIdentity(ground, { ...approval, wallet: vault })
  const domains = composeDomain(ground)
  const { principals } = authority
  const payment = composePayment(ground, { principals, approval, budget, wallet: vault, serviceTarget })
  const renewal = composeRenewal(ground, { approvals, budgets: budget.budgets, domains, payment })
  const recordings = composeRecording(ground, activity)
  const tools = composeTool(ground, {
    ...{ ...approval, authority, served: toolServer.served, budgets: budget.toolBudgets, payments: payment.rows },
    endpoints: () => endpoints,
  })
  const chat = composeChat(ground, {
    shared: createSharedBudget(budget.budgets),
    executor: tools.executor,
    served: toolServer.served,
    approvals,
    principals,
    providerKeys: providers.keys,
  })
  scope.own(
    followRemovedThings({
      ...{ link, client: ground.client, removed: ground.removedThings, log: log.forArea('references') },
      records: createExistingThingRepository(ground.database),
    }),
    (it) => it.close(),
  )
  followStop(ground, { approvals, stopAll: [chat.stopAll, tools.executor.stopAll] })
  const endpoints: readonly LocalEndpoint[] = [
    ...activity.endpoints,
    ...wallet.endpoints,
    ...connection.endpoints,
    ...sheets.endpoints,
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
    database: ground.database,
    client: ground.client,
    note: ground.activity.note,
    wallet: vault,
    approvals,
    tools: tools.executor,
    mcp: tools.mcp,
    stdioDoor: tools.door,
    sheets: sheets.pages,
    identifyClient: connection.identifyClient,
    tasks: ground.tasks,
    principals,
    endpoints,
  }
}
