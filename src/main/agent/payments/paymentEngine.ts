import type { Log } from '#platform/logging/log.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Approvals, SubmitRequest } from '../approvals/approvals.ts'
import type { IdempotentSubmissions } from '../approvals/idempotentSubmissions.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { AuthorizationLookup } from '../base/authorizations.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { PaymentBudgetRepository } from '../budgets/paymentBudgetRepository.ts'
import type { PaymentBudgets } from '../budgets/paymentBudgets.ts'
import { createPaymentActivityRecorder } from './paymentActivityRecorder.ts'
import { createPaymentJournal, toPaymentSummary } from './paymentJournal.ts'
import { createPaymentLeases } from './paymentLeases.ts'
import { createPaymentReconciler } from './paymentReconciler.ts'
import {
  createPaymentRepository,
  type PaymentRecord,
  type PaymentRepository,
  type StoredPayment,
} from './paymentRepository.ts'
import { isFinal } from './paymentStates.ts'
import { createPaymentSubmitter, type PaymentSubmitter, type TransientHeaders } from './paymentSubmitter.ts'
import { type Payments, createPayments as paymentsOf } from './payments.ts'
import { createPurchaseLeaseRepository } from './purchaseLeaseRepository.ts'
import type { Seller } from './seller.ts'
import { createSigningClock } from './signingClock.ts'

export type PaymentEngine = {
  payments: Payments
  rows: PaymentRepository
  /** Checks the payment with the seller and the chain now. */
  follow(id: PaymentId): Promise<void>
  /** Resumes payments that wait for the service. */
  resume(): void
  close(): Promise<void>
}

type Options = {
  database: Database
  approvals: Pick<Approvals, 'get' | 'preview' | 'closePurchase'>
  ask: (request: SubmitRequest) => ReturnType<Approvals['submit']>
  repeats: IdempotentSubmissions
  principals: Pick<AgentPrincipals, 'lease'>
  budgets: PaymentBudgets
  budgetRecords: PaymentBudgetRepository
  settleSpender?: Parameters<typeof createPaymentJournal>[0]['settleSpender']
  publicSeller: Seller
  /** Returns undefined while the service is unavailable. */
  ownService: () => Seller | undefined
  /** Identifier of the connected service in the journal. */
  service: string
  /** Runs `work` within the task in which the intent was submitted. */
  runInTask: <T>(intentId: string, work: () => T) => T
  /** Whether the URL belongs to this application's service, which accepts the wallet's test money. */
  isOwnService: (url: string) => boolean
  hasSolana: () => boolean
  /** See `DemandOptions.permitAllowance`. */
  permitAllowance: (network: string) => Promise<bigint | undefined>
  /** See the options of `SigningClock`. */
  blockTimeMs: (network: string) => Promise<number | undefined>
  lookup: AuthorizationLookup
  /** Periodic work in addition to following payments. */
  periodicWork?: (rows: PaymentRepository) => Promise<void>
  /** Subscribes to changes of intents. @returns a function to unsubscribe */
  onIntentChange: (listener: Payments['onIntent']) => () => void
  publish: (event: LocalEvent) => void
  recordActivity: RecordActivity
  newId: () => PaymentId
  log: Log
  /** Clock for deadlines and schedules. */
  now: () => number
  /** Clock of this computer, compared with other clocks. Defaults to `now`. */
  wallNow?: () => number
}

/** Creates the payments of one database. Unfinished payments of an earlier run are resumed. */
export function createPaymentEngine(options: Options): PaymentEngine {
  const { budgets, budgetRecords, publicSeller, ownService, service, publish, now } = options
  const rows = createPaymentRepository(options.database)
  const journal = createPaymentJournal({
    ...{ payments: rows, budgets: budgetRecords, now },
    ...(options.settleSpender && { settleSpender: options.settleSpender }),
  })
  const activity = createPaymentActivityRecorder(options.recordActivity)
  const transientHeaders: TransientHeaders = new Map()
  const purchaseLeases = createPurchaseLeaseRepository(options.database)
  /** Removes the purchase lease of a payment, and closes other intents for the same purchase if it was bought. */
  const endPurchase = ({ intent_id: intentId, paid }: PaymentRecord, answer: StoredPayment['answer']): void => {
    if (intentId === null) return
    purchaseLeases.remove(intentId)
    const purchase = payments.findIntent(intentId)?.purchase
    if (purchase && paid && answer && answer.status < 400) options.approvals.closePurchase(purchase)
  }
  const unsubscribeFromJournal = journal.subscribe(({ payment: { record, answer }, from }) => {
    if (isFinal(record.state)) {
      transientHeaders.delete(record.id)
      endPurchase(record, answer)
    }
    activity.became(record, from)
    publish({ type: 'payment.changed', payment: toPaymentSummary(record) })
    if (record.state !== from) publish({ type: 'payment-budgets.changed' })
  })
  const sending = createPaymentSubmitter({
    payments: rows,
    journal,
    findSeller: ({ via, service: serviceUrl }) =>
      via === 'public' ? publicSeller : serviceUrl === service ? ownService() : undefined,
    ...{ lookup: options.lookup, transientHeaders, now },
  })
  /** Attributes all sends to the task of the payment. */
  const inTask: PaymentSubmitter = {
    step(id, signal) {
      const intent = rows.find(id)?.record.intent_id
      const step = () => sending.step(id, signal)
      return intent ? options.runInTask(intent, step) : step()
    },
  }
  const periodicWork = () => options.periodicWork?.(rows) ?? Promise.resolve()
  const follower = createPaymentReconciler({ payments: rows, sending: inTask, periodicWork, log: options.log, now })
  const payments = paymentsOf({
    ...options,
    transientHeaders,
    payments: rows,
    journal,
    payees: budgetRecords,
    budgets,
    follower,
    clock: createSigningClock({ blockTimeMs: options.blockTimeMs, now: options.wallNow ?? now }),
  })
  const leases = createPaymentLeases({
    ...{ principals: options.principals, payments: rows, journal },
    findAccount: (intentId) => payments.findIntent(intentId)?.account_id,
  })
  const unsubscribeFromIntents = options.onIntentChange(payments.onIntent)
  payments.start()
  follower.start()
  return {
    payments,
    rows,
    follow: follower.follow,
    resume: follower.start,
    async close() {
      unsubscribeFromIntents()
      leases.close()
      payments.close()
      await follower.close()
      unsubscribeFromJournal()
    },
  }
}
