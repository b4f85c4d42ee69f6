import { randomBytes } from 'node:crypto'
import { createHttpClient } from '#platform/http/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { createIntentRepository } from '../approvals/intentRepository.ts'
import type { Reservations } from '../approvals/reservations.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { createBudgetRoutes } from '../budgets/budgetRoutes.ts'
import { reconcileSignedEntries } from '../budgets/reconcileSignedEntries.ts'
import { buildUrl, createConnector, createTlsOptions, type ServiceTarget } from '../connections/serviceTarget.ts'
import {
  createChainLookup,
  createSolanaLookup,
  createTestLedgerLookup,
  lookupByNetwork,
} from '../payments/authorizationLookup.ts'
import { createPaymentEngine, type PaymentEngine } from '../payments/paymentEngine.ts'
import { createPaymentRepository } from '../payments/paymentRepository.ts'
import { createPaymentRoutes } from '../payments/paymentRoutes.ts'
import { isFinal } from '../payments/paymentStates.ts'
import { createPurchaseLeaseRepository } from '../payments/purchaseLeaseRepository.ts'
import { createLeaseReservations } from '../payments/purchaseReservations.ts'
import { type Purchases, createPurchases as purchasesOf } from '../payments/purchases.ts'
import { createPublicSeller } from '../payments/seller.ts'
import { createSellerAccess } from '../payments/sellerAccess.ts'
import { createServiceSeller } from '../payments/serviceSeller.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { AgentContext } from './agentContext.ts'
import type { ApprovalModule } from './composeApprovals.ts'
import type { BudgetModule } from './composeBudgets.ts'

type PaymentOptions = {
  principals: AgentPrincipals
  approval: Pick<ApprovalModule, 'approvals' | 'limitedApprovals' | 'repeats' | 'policy'>
  budget: BudgetModule
  wallet: Pick<WalletKeys, 'account' | 'accounts'>
  serviceTarget: () => ServiceTarget | undefined
}

const maxAnswerBytes = 2 * 1024 * 1024
const blockTimeWithinMs = 3_000

export type PaymentModule = Pick<PaymentEngine, 'payments' | 'rows'> & {
  purchases: Purchases
  endpoints: LocalEndpoint[]
}

export function composePayments(context: AgentContext, options: PaymentOptions): PaymentModule {
  const {
    database,
    client,
    chains,
    solana,
    connectedService,
    link,
    events,
    activity,
    tasks,
    scope,
    now: wallNow,
    clock,
  } = context
  const now = clock.steadyMs
  const { principals, approval, budget, wallet, serviceTarget } = options
  const { records, budgets } = budget
  const { record: recordActivity } = activity
  const publicSeller = scope.own(createPublicSeller(), (it) => it.close())
  const ownSeller = createServiceSeller(() => {
    const target = link.target()
    return (
      target && {
        client: createHttpClient({ maxAnswerBytes, connect: createConnector(target), tls: createTlsOptions(target) }),
        baseUrl: buildUrl(target),
        authorization: `Bearer ${target.key}`,
        task: tasks.current(),
      }
    )
  })
  const lookup = lookupByNetwork({
    chain: createChainLookup(chains, now),
    solana: createSolanaLookup(solana, () => Math.min(now(), wallNow())),
    testLedger: createTestLedgerLookup(client, connectedService),
  })
  const entries = reconcileSignedEntries({ records, lookup, now })
  const engine = scope.own(
    createPaymentEngine({
      ...{ database, approvals: approval.approvals, ask: approval.limitedApprovals.submit, repeats: approval.repeats },
      ...{ principals, budgets, budgetRecords: records, publicSeller, lookup, recordActivity, now, wallNow },
      settleSpender: budget.toolBudgets.settle,
      ownService: () => link.target() && ownSeller,
      service: connectedService,
      runInTask: (intentId, work) => {
        const task = activity.findTask({ kind: 'intent', id: intentId })
        return task ? tasks.resume(task, work) : work()
      },
      hasSolana: () => wallet.accounts().some(({ chainType }) => chainType === 'solana'),
      async permitAllowance(network) {
        const { address } = wallet.account('evm')
        const chain = chains.find((it) => it.network.id === network)
        return chain?.permitAllowance(address).catch(() => undefined)
      },
      async blockTimeMs(network) {
        const chain = chains.find((it) => it.network.id === network)
        return chain?.blockTimeMs(undefined, { withinMs: blockTimeWithinMs }).catch(() => undefined)
      },
      isOwnService: (url) => toOrigin(serviceTarget()?.url) === toOrigin(url),
      periodicWork: (rows) => entries.reconcile((intentId) => rows.ofIntent(intentId) !== undefined),
      onIntentChange: (listener) =>
        events.subscribe((event) => {
          if (event.type === 'intent.changed') listener(event.intent)
        }),
      publish: events.publish,
      newId: () => `pay_${randomBytes(12).toString('hex')}` as PaymentId, // as the branded type requires
      log: context.log.forArea('payments'),
    }),
    (it) => it.close(),
  )
  scope.own(
    link.subscribe(({ type }) => {
      if (type === 'ready') engine.resume()
    }),
    (unsubscribe) => unsubscribe(),
  )
  const access = createSellerAccess({
    getNamedServers: () => budgets.limits().local_servers,
    isOwnService: (url) => toOrigin(serviceTarget()?.url) === toOrigin(url),
    isStopped: () => approval.approvals.policy().stopped,
  })
  const serviceUrl = (): string => {
    const target = serviceTarget()
    if (target) return target.url
    throw new AppError('service/unavailable', "The service isn't responding.")
  }
  const purchases = purchasesOf({ client, seller: ownSeller, serviceUrl })
  return {
    payments: engine.payments,
    rows: engine.rows,
    purchases,
    endpoints: [
      ...createBudgetRoutes({ records, budgets, policy: approval.policy, publish: events.publish, recordActivity }),
      ...createPaymentRoutes({ ...engine, purchases, seller: publicSeller, access }),
    ],
  }
}

/** Allows one request at a time to buy an item at the service, according to the database. */
export function createPurchaseReservations(database: Database): Reservations {
  const { find } = createIntentRepository(database)
  const rows = createPaymentRepository(database)
  return createLeaseReservations({
    leases: createPurchaseLeaseRepository(database),
    isUnderWay(intentId) {
      const state = find(intentId)?.record.state
      const payment = state === 'signed' ? rows.ofIntent(intentId) : undefined
      return state === 'approved' || (payment !== undefined && !isFinal(payment.record.state))
    },
  })
}

function toOrigin(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin
}
