import type { AuthorizationLookup } from '../base/authorizations.ts'
import { lookupDelayMs } from '../base/lookupDelay.ts'
import type { PaymentBudgetRepository } from './paymentBudgetRepository.ts'
import { parsePayee } from './paymentBudgets.ts'

/** Interval between lookups of an unresolved payment: one hour. */
const lookupIntervalMs = 3_600_000

/** Reconciles signatures of programs that pay themselves. Each one counts until it has expired unused. */
export function reconcileSignedEntries(options: {
  records: Pick<PaymentBudgetRepository, 'overdue' | 'settle'>
  lookup: AuthorizationLookup
  now: () => number
}) {
  const { records, lookup, now } = options
  const nextLookupMs = new Map<string, number>()
  return {
    /** Looks up overdue signatures. @param isFollowed whether Steward itself tracks the payment of the intent */
    async reconcile(isFollowed: (intentId: string) => boolean): Promise<void> {
      for (const entry of records.overdue(now() - lookupDelayMs)) {
        const { id, payee, payer, nonce, validBeforeMs, amountMicroUsd, atMs: sinceMs, service } = entry
        if (isFollowed(id) || (nextLookupMs.get(id) ?? 0) > now() - lookupIntervalMs) continue
        nextLookupMs.set(id, now())
        const { network, payTo } = parsePayee(payee)
        const amount = String(amountMicroUsd)
        const outcome = await lookup.findState({
          ...{ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs },
          ...(service !== null && { service }),
        })
        if (outcome.state !== 'unknown') nextLookupMs.delete(id)
        if (outcome.state === 'used') records.settle(id, 'spent', outcome.settledMicroUsd)
        if (outcome.state === 'unused' && outcome.isFinal) records.settle(id, 'void')
      }
    },
  }
}
