import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { grantRepository } from '#agent/approvals/grantRepository.ts'
import { grantReservations } from '#agent/approvals/grantReservations.ts'
import { intentRepository } from '#agent/approvals/intentRepository.ts'
import { paymentBudgetRepository } from '#agent/budgets/paymentBudgetRepository.ts'
import { paymentBudgets } from '#agent/budgets/paymentBudgets.ts'
import { allReservations, paymentReservations } from '#agent/budgets/paymentReservations.ts'
import type { AuthorizationLookup, AuthorizationState } from '#agent/payments/authorizationLookup.ts'
import { paymentEngine } from '#agent/payments/paymentEngine.ts'
import { microUsdOf, type Wanted } from '#agent/payments/paymentPlan.ts'
import type { StoredPayment } from '#agent/payments/paymentRepository.ts'
import { publicSeller, type Seller } from '#agent/payments/seller.ts'
import { silentLog } from '#platform/log.ts'
import type { Asker, PolicyRule } from '#shared/contract/intents.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { emitter } from '#shared/emitter.ts'
import { openApprovals, rule, script } from './approvals.ts'
import { type LockableSigner, lockableSigner } from './lockableSigner.ts'
import { noLimits } from './payingAgent.ts'
import { temporaryFolder } from './temporaryFolder.ts'

export type OpenPayments = ReturnType<typeof openPayments>

type Options = {
  file?: string
  now?: () => number
  signer?: LockableSigner
  /** What the chain would say; by itself nothing was used. */
  chain?: (asked: Parameters<AuthorizationLookup['stateOf']>[0]) => AuthorizationState | Promise<AuthorizationState>
  /** USDC that Permit2 may move. */
  permitAllowance?: () => Promise<bigint | undefined>
  /** Time of the newest block; by itself no node answers. */
  blockTimeMs?: () => Promise<number | undefined>
  seller?: Seller
  rules?: PolicyRule[]
  limits?: Partial<PaymentBudgetLimits>
}

/** Payments with approvals and limits on a database of their own; `file` keeps it for a restart. */
export function openPayments(given: Options = {}) {
  const { file = join(temporaryFolder('payments'), 'agent.sqlite'), now = Date.now } = given
  const {
    rules = [rule({ effect: 'allow' })],
    limits = {},
    chain = () => ({ state: 'unused', isFinal: false }),
  } = given
  const signer = given.signer ?? lockableSigner({ now })
  const events = emitter<LocalEvent>()
  const held = openApprovals({
    ...{ file, now, signer, publish: events.emit },
    reservations(database) {
      const records = paymentBudgetRepository(database)
      const { find } = intentRepository(database)
      const signed = (id: string) => find(id)?.record.result
      return allReservations([
        paymentReservations({ records, budgets: paymentBudgets({ records, now }), signed, now }),
        grantReservations({ grants: grantRepository(database), now }),
      ])
    },
  })
  const { database } = held
  const records = paymentBudgetRepository(database)
  const budgets = paymentBudgets({ records, now })
  records.setLimits({ ...noLimits, ask_first_payee: false, ...limits })
  const confirm_above_micro_usd = '1000000000'
  held.approvals.changePolicy({ rules, confirm_above_micro_usd, expiry_minutes: 15 })
  const seller = given.seller ?? publicSeller({ deadlineMs: 5_000 })
  const engine = paymentEngine({
    ...{
      database,
      approvals: held.approvals,
      ask: held.approvals.ask,
      repeats: held.repeats,
      principals: held.principals,
    },
    ...{ budgets, budgetRecords: records, strangers: seller, service: 'embedded', now, log: silentLog },
    ownService: () => undefined,
    inTaskOf: (_, work) => work(),
    isOwnService: () => false,
    hasSolana: () => signer.wallet.accounts().some(({ chainType }) => chainType === 'solana'),
    permitAllowance: given.permitAllowance ?? (async () => undefined),
    blockTimeMs: given.blockTimeMs ?? (async () => undefined),
    lookup: { stateOf: async (asked) => chain(asked) },
    onIntentChange: (listener) =>
      events.subscribe((event) => {
        if (event.type === 'intent.changed') listener(event.intent)
      }),
    publish: events.emit,
    note: () => {},
    newId: () => `pay_${randomBytes(12).toString('hex')}` as PaymentId, // as the brand demands
  })
  const { signal } = new AbortController()
  const wanted = (url: string, most?: number, headers: Record<string, string> = {}): Wanted => ({
    ...{ seller, via: 'public', url, purpose: 'fetch', title: `GET ${url}`, quote: null },
    capMicroUsd: most === undefined ? null : microUsdOf('most', most),
    request: { method: 'GET', url, headers },
  })
  let open = true
  return {
    ...{ engine, records, budgets, signer, approvals: held.approvals, wanted },
    /** As a program asks, up to $10. @returns the payment; undefined where it was free */
    async pay(url: string, { most = 10, asker = script, key, headers }: Paying = {}) {
      const request = key === undefined ? undefined : { key, method: 'POST', path: '/x', body: Buffer.from(url) }
      const call = { asker, repeatable: request, setHeader: () => {}, signal }
      const { payment } = await engine.payments.buy(async () => wanted(url, most, headers), call, {
        reason: undefined,
        waitMs: 0,
      })
      return payment ?? undefined
    },
    ended: (id: PaymentId): Promise<StoredPayment> => engine.payments.settled(id, { waitMs: 20_000, signal }),
    read: (id: PaymentId) => engine.rows.find(id),
    async close() {
      if (!open) return
      open = false
      await engine.close()
      held.close()
      if (!given.seller) seller.close()
    },
  }
}

type Paying = { most?: number; asker?: Asker; key?: string; headers?: Record<string, string> }

/** Closed with the test, if not before. */
export function paymentsOfTest(options?: Options): OpenPayments {
  const held = openPayments(options)
  onTestFinished(held.close)
  return held
}
