import { randomBytes } from 'node:crypto'
import { httpClient } from '#platform/httpClient.ts'
import { AppError } from '#shared/appError.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/openDatabase.ts'
import { intentRepository } from '../approvals/intentRepository.ts'
import type { Reservations } from '../approvals/reservations.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { budgetRoutes } from '../budgets/budgetRoutes.ts'
import { signedEntries } from '../budgets/signedEntries.ts'
import { askedUrl, connector, type ServiceTarget, tlsOptions } from '../connections/serviceTarget.ts'
import { chainLookup, lookupByNetwork, solanaLookup, testLedgerLookup } from '../payments/authorizationLookup.ts'
import { type PaymentEngine, paymentEngine } from '../payments/paymentEngine.ts'
import { paymentRepository } from '../payments/paymentRepository.ts'
import { paymentRoutes } from '../payments/paymentRoutes.ts'
import { isFinal } from '../payments/paymentStates.ts'
import { purchaseLeaseRepository } from '../payments/purchaseLeaseRepository.ts'
import { purchaseReservations } from '../payments/purchaseReservations.ts'
import { type Purchases, purchases as purchasesOf } from '../payments/purchases.ts'
import { publicSeller } from '../payments/seller.ts'
import { createSellerAccess } from '../payments/sellerAccess.ts'
import { serviceSeller } from '../payments/serviceSeller.ts'
import type { WalletKeys } from '../wallet/walletKeys.ts'
import type { AgentGround } from './agentGround.ts'
import type { ApprovalParts } from './approvalParts.ts'
import type { BudgetParts } from './budgetParts.ts'

type Given = {
  principals: AgentPrincipals
  approval: Pick<ApprovalParts, 'approvals' | 'asks' | 'repeats' | 'policy'>
  budget: BudgetParts
  wallet: Pick<WalletKeys, 'account' | 'accounts'>
  serviceTarget: () => ServiceTarget | undefined
}

const maxAnswerBytes = 2 * 1024 * 1024
const blockTimeWithinMs = 3_000

export type PaymentParts = Pick<PaymentEngine, 'payments' | 'rows'> & {
  purchases: Purchases
  endpoints: LocalEndpoint[]
}

/** Paying others, and the limits of it. */
export function paymentParts(ground: AgentGround, given: Given): PaymentParts {
  const { database, client, chains, solana, hosted, link, events, activity, tasks, scope, now: wallNow, clock } = ground
  const now = clock.steadyMs
  const { principals, approval, budget, wallet, serviceTarget } = given
  const { records, budgets } = budget
  const { note } = activity
  const strangers = scope.own(publicSeller(), (it) => it.close())
  const own = serviceSeller(() => {
    const target = link.target()
    return (
      target && {
        client: httpClient({ maxAnswerBytes, connect: connector(target), tls: tlsOptions(target) }),
        baseUrl: askedUrl(target),
        authorization: `Bearer ${target.key}`,
        task: tasks.current(),
      }
    )
  })
  const lookup = lookupByNetwork({
    chain: chainLookup(chains, now),
    solana: solanaLookup(solana, () => Math.min(now(), wallNow())),
    testLedger: testLedgerLookup(client),
  })
  const entries = signedEntries({ records, lookup, now })
  const engine = scope.own(
    paymentEngine({
      ...{ database, approvals: approval.approvals, ask: approval.asks.ask, repeats: approval.repeats },
      ...{ principals, budgets, budgetRecords: records, strangers, lookup, note, now, wallNow },
      settleSpender: budget.toolBudgets.settle,
      ownService: () => link.target() && own,
      service: hosted?.url ?? 'embedded',
      inTaskOf: (intentId, work) => {
        const task = activity.taskOf({ kind: 'intent', id: intentId })
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
      isOwnService: (url) => originOf(serviceTarget()?.url) === originOf(url),
      alongside: (rows) => entries.lookAfter((intentId) => rows.ofIntent(intentId) !== undefined),
      onIntentChange: (listener) =>
        events.subscribe((event) => {
          if (event.type === 'intent.changed') listener(event.intent)
        }),
      publish: events.publish,
      newId: () => `pay_${randomBytes(12).toString('hex')}` as PaymentId, // as the brand demands
      log: ground.log.of('payments'),
    }),
    (it) => it.close(),
  )
  scope.own(
    link.subscribe(({ type }) => {
      if (type === 'ready') engine.resume()
    }),
    (leave) => leave(),
  )
  const access = createSellerAccess({
    namedServers: () => budgets.limits().local_servers,
    isOwnService: (url) => originOf(serviceTarget()?.url) === originOf(url),
    isStopped: () => approval.approvals.policy().stopped,
  })
  const serviceUrl = (): string => {
    const target = serviceTarget()
    if (target) return target.url
    throw new AppError('service/unavailable', "The service isn't responding.")
  }
  const purchases = purchasesOf({ client, seller: own, serviceUrl })
  return {
    payments: engine.payments,
    rows: engine.rows,
    purchases,
    endpoints: [
      ...budgetRoutes({ records, budgets, policy: approval.policy, publish: events.publish, note }),
      ...paymentRoutes({ ...engine, purchases, seller: strangers, access }),
    ],
  }
}

/** Lets one request at a time buy a thing at the service, as the database knows them. */
export function createPurchaseReservations(database: Database): Reservations {
  const { find } = intentRepository(database)
  const rows = paymentRepository(database)
  return purchaseReservations({
    leases: purchaseLeaseRepository(database),
    isUnderWay(intentId) {
      const state = find(intentId)?.record.state
      const payment = state === 'signed' ? rows.ofIntent(intentId) : undefined
      return state === 'approved' || (payment !== undefined && !isFinal(payment.record.state))
    },
  })
}

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : URL.parse(url)?.origin
}
