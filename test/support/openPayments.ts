import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createGrantRepository } from '#agent/approvals/grantRepository.ts'
import { createGrantReservations } from '#agent/approvals/grantReservations.ts'
import { createIntentRepository } from '#agent/approvals/intentRepository.ts'
import type { AuthorizationLookup, AuthorizationState } from '#agent/base/authorizations.ts'
import { createPaymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { createPaymentBudgets } from '#agent/budgets/paymentBudgets.ts'
import { combineReservations, createPaymentReservations } from '#agent/budgets/paymentReservations.ts'
import { createPaymentEngine } from '#agent/payments/paymentEngine.ts'
import { type PurchaseRequest, parseUsd } from '#agent/payments/paymentPlan.ts'
import type { StoredPayment } from '#agent/payments/paymentRepository.ts'
import { createPublicSeller, type Seller } from '#agent/payments/seller.ts'
import { silentLog } from '#platform/logging/log.ts'
import type { PolicyRule, Requester } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { createEmitter } from '#shared/emitter.ts'
import { openApprovals, rule, script } from './approvals.ts'
import { createLockableSigner, type LockableSigner } from './lockableSigner.ts'
import { noLimits } from './payingAgent.ts'
import { temporaryFolder } from './temporaryFolder.ts'

export type OpenPayments = ReturnType<typeof openPayments>

type Options = {
  file?: string
  now?: () => number
  signer?: LockableSigner
  /** State of an authorization on the chain. Default: unused. */
  chain?: (
    requested: Parameters<AuthorizationLookup['findState']>[0],
  ) => AuthorizationState | Promise<AuthorizationState>
  /** USDC amount that Permit2 may transfer. */
  permitAllowance?: () => Promise<bigint | undefined>
  /** Timestamp of the newest block. Default: no node responds. */
  blockTimeMs?: () => Promise<number | undefined>
  seller?: Seller
  rules?: PolicyRule[]
  limits?: Partial<PaymentBudgetLimits>
}

/**
 * Opens payments with approvals and limits on a separate database. Pass `file` to reuse the database after a restart.
 */
export function openPayments(options: Options = {}) {
  const { file = join(temporaryFolder('payments'), 'agent.sqlite'), now = Date.now } = options
  const {
    rules = [rule({ effect: 'allow' })],
    limits = {},
    chain = () => ({ state: 'unused', isFinal: false }),
  } = options
  const signer = options.signer ?? createLockableSigner({ now })
  const events = createEmitter<LocalEvent>()
  const approvals = openApprovals({
    ...{ file, now, signer, publish: events.emit },
    reservations(database) {
      const records = createPaymentBudgetRepository(database)
      const { find } = createIntentRepository(database)
      const findSignature = (id: string) => find(id)?.record.result
      return combineReservations([
        createPaymentReservations({
          records,
          budgets: createPaymentBudgets({ records, now }),
          findSignature,
          service: 'embedded',
          now,
        }),
        createGrantReservations({ grants: createGrantRepository(database), now }),
      ])
    },
  })
  const { database } = approvals
  const records = createPaymentBudgetRepository(database)
  const budgets = createPaymentBudgets({ records, now })
  records.setLimits({ ...noLimits, ask_first_payee: false, ...limits })
  const confirm_above_micro_usd = '1000000000'
  approvals.approvals.changePolicy({ rules, confirm_above_micro_usd, expiry_minutes: 15 })
  const seller = options.seller ?? createPublicSeller({ deadlineMs: 5_000 })
  const engine = createPaymentEngine({
    ...{
      database,
      approvals: approvals.approvals,
      ask: approvals.approvals.ask,
      repeats: approvals.repeats,
      principals: approvals.principals,
    },
    ...{ budgets, budgetRecords: records, strangers: seller, service: 'embedded', now, log: silentLog },
    ownService: () => undefined,
    runInTask: (_, work) => work(),
    isOwnService: () => false,
    hasSolana: () => signer.wallet.accounts().some(({ chainType }) => chainType === 'solana'),
    permitAllowance: options.permitAllowance ?? (async () => undefined),
    blockTimeMs: options.blockTimeMs ?? (async () => undefined),
    lookup: { findState: async (pendingRequest) => chain(pendingRequest) },
    onIntentChange: (listener) =>
      events.subscribe((event) => {
        if (event.type === 'intent.changed') listener(event.intent)
      }),
    publish: events.emit,
    note: () => {},
    newId: () => `pay_${randomBytes(12).toString('hex')}` as PaymentId, // matches the format of the branded type
  })
  const { signal } = new AbortController()
  const createRequest = (url: string, maxUsdc?: number, headers: Record<string, string> = {}): PurchaseRequest => ({
    ...{ seller, via: 'public', url, purpose: 'fetch', title: `GET ${url}`, quote: null },
    capMicroUsd: maxUsdc === undefined ? null : parseUsd('most', maxUsdc),
    request: { method: 'GET', url, headers },
  })
  let open = true
  return {
    ...{ engine, records, budgets, signer, approvals: approvals.approvals, createRequest },
    principals: approvals.principals,
    /** Pays as a program with a limit of $10. @returns the payment, or undefined if the response was free */
    async pay(url: string, { max: most = 10, requester = script, key, headers }: Paying = {}) {
      const request = key === undefined ? undefined : { key, method: 'POST', path: '/x', body: Buffer.from(url) }
      const call = { requester, repeatable: request, setHeader: () => {}, signal }
      const { payment } = await engine.payments.buy(async () => createRequest(url, most, headers), call, {
        reason: undefined,
        waitMs: 0,
      })
      return payment ?? undefined
    },
    ended: (id: PaymentId): Promise<StoredPayment> => engine.payments.waitUntilSettled(id, { waitMs: 20_000, signal }),
    read: (id: PaymentId) => engine.rows.find(id),
    async close() {
      if (!open) return
      open = false
      await engine.close()
      approvals.close()
      if (!options.seller) seller.close()
    },
  }
}

type Paying = { max?: number; requester?: Requester; key?: string; headers?: Record<string, string> }

/** Opens payments that are closed at the end of the test. */
export function paymentsOfTest(options?: Options): OpenPayments {
  const payments = openPayments(options)
  onTestFinished(payments.close)
  return payments
}
