import { builtFile } from '#platform/programFile.ts'
import type { Database } from '#storage/openDatabase.ts'
import type { LocalRoutesOptions } from '../api/localRoutes.ts'
import type { Approvals } from '../approvals/approvals.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { Note } from '../base/note.ts'
import { sharedBudget } from '../budgets/paymentBudgets.ts'
import { allReservations } from '../budgets/paymentReservations.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import { walletLinkRepository } from '../connections/walletLinkRepository.ts'
import { walletUnlinking } from '../connections/walletUnlinking.ts'
import { knownThingRepository } from '../references/knownThingRepository.ts'
import { removedThingFollower } from '../references/removedThingFollower.ts'
import type { SheetPages } from '../sheets/sheetPages.ts'
import { walletSheets } from '../sheets/walletSheets.ts'
import type { McpEndpoint } from '../tools/mcpEndpoint.ts'
import type { StdioDoor } from '../tools/stdioDoor.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import { requireStrong } from '../wallet/passphrases.ts'
import type { WalletVault } from '../wallet/walletVault.ts'
import { activityParts } from './activityParts.ts'
import { type AgentOptions, agentGround } from './agentGround.ts'
import { approvalParts } from './approvalParts.ts'
import { authorityParts } from './authorityParts.ts'
import { budgetParts } from './budgetParts.ts'
import { chatParts } from './chatParts.ts'
import { connectionParts } from './connectionParts.ts'
import { domainParts } from './domainParts.ts'
import { identityParts } from './identityParts.ts'
import { createPurchaseReservations, paymentParts } from './paymentParts.ts'
import { providerParts } from './providerParts.ts'
import { recordingParts } from './recordingParts.ts'
import { renewalParts } from './renewalParts.ts'
import { followStop } from './stopParts.ts'
import { toolParts } from './toolParts.ts'
import { toolServerParts } from './toolServerParts.ts'
import { walletParts } from './walletParts.ts'

export type AgentParts = {
  database: Database
  client: ServiceClient
  note: Note
  wallet: WalletVault
  /** Where a person gives and sees secrets. */
  sheets: SheetPages
  approvals: Approvals
  tools: ToolExecutor
  /** Answers `/mcp`. */
  mcp: McpEndpoint
  stdioDoor: StdioDoor
  clientOf: LocalRoutesOptions['clientOf']
  tasks: LocalRoutesOptions['tasks']
  principals: AgentPrincipals
  /** What the local API answers beside its own paths. */
  endpoints: readonly LocalEndpoint[]
}

/**
 * Makes the slices of the agent, in the order in which they need each other: wallet, activity, budgets, providers,
 * tool servers, authority, signer and approvals, sign-in, sheets, identity, domains, payments, renewals, tools. A slice knows the others by their types alone; here they meet.
 */
export function agentParts(options: AgentOptions): AgentParts {
  const { link, hosted, scope, log, now } = options
  const ground = agentGround(options)
  const unlinking = walletUnlinking(walletLinkRepository(ground.database))
  const wallet = walletParts(ground, {
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
  const activity = activityParts(ground, { wallet: vault, chatTitles: (ids) => chat.titles(ids) })
  /** Known before anybody is signed in there. */
  const servicePlace = hosted && { url: hosted.url, key: '', certificate: undefined, authority: hosted.authority }
  const serviceTarget = () => link.target() ?? servicePlace
  const budget = budgetParts(ground)
  const providers = providerParts(ground)
  const toolServer = toolServerParts(ground, providers)
  const authority = authorityParts(ground, {
    ...{ wallet: vault, budget, served: toolServer.served, serviceTarget },
    review: () => approval.approvals.review(),
  })
  const approval = approvalParts(ground, {
    ...{ authority, wallet: vault },
    serviceTarget,
    paymentReservations: allReservations([createPurchaseReservations(ground.database), budget.reservations]),
    beforeSigning: (record) => payment.payments.checkBeforeSigning(record),
  })
  const { approvals, policy } = approval
  const connection = connectionParts(ground, { wallet: vault, approvals, serviceTarget })
  const sheets = scope.own(
    walletSheets({
      vault,
      unlinking,
      service: link.status,
      requireStrong,
      approvals,
      policy,
      providers: { ...providers, toolServers: toolServer.servers },
      pagesFolder: builtFile('renderer'),
      now,
      log: log.of('sheets'),
    }),
    (it) => it.close(),
  )
  const identity = identityParts(ground, { ...approval, wallet: vault })
  const domains = domainParts(ground)
  const { principals } = authority
  const payment = paymentParts(ground, { principals, approval, budget, wallet: vault, serviceTarget })
  const renewal = renewalParts(ground, { approvals, budgets: budget.budgets, domains, payment })
  const recordings = recordingParts(ground, activity)
  const tools = toolParts(ground, {
    ...{ ...approval, authority, served: toolServer.served, budgets: budget.toolBudgets, payments: payment.rows },
    endpoints: () => endpoints,
  })
  const chat = chatParts(ground, {
    shared: sharedBudget(budget.budgets),
    executor: tools.executor,
    served: toolServer.served,
    approvals,
    principals,
    providerKeys: providers.keys,
  })
  scope.own(
    removedThingFollower({
      ...{ link, client: ground.client, removed: ground.removedThings, log: log.of('references') },
      records: knownThingRepository(ground.database),
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
    clientOf: connection.clientOf,
    tasks: ground.tasks,
    principals,
    endpoints,
  }
}
