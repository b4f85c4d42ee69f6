import type { AuthorizationLookup } from '../payments/authorizationLookup.ts'
import type { PaymentBudgetRepository } from './paymentBudgetRepository.ts'
import { payeeOf } from './paymentBudgets.ts'

/** An hour between two questions about one that nobody can tell of. */
const againMs = 3_600_000

/** What the wallet signed for programs that pay by themselves: it counts until it has expired and was not used. */
export function signedEntries(options: {
  records: Pick<PaymentBudgetRepository, 'overdue' | 'settle'>
  lookup: AuthorizationLookup
  now: () => number
}) {
  const { records, lookup, now } = options
  const asked = new Map<string, number>()
  return {
    /** @param isFollowed whether it is of a payment that Steward follows itself */
    async lookAfter(isFollowed: (intentId: string) => boolean): Promise<void> {
      for (const { id, payee, payer, nonce, validBeforeMs, amountMicroUsd, atMs } of records.overdue(now() - 65_000)) {
        if (isFollowed(id) || (asked.get(id) ?? 0) > now() - againMs) continue
        asked.set(id, now())
        const { network, payTo } = payeeOf(payee)
        const amount = String(amountMicroUsd)
        const known = await lookup.stateOf({ network, payer, payTo, amount, nonce, validBeforeMs, sinceMs: atMs })
        if (known.state !== 'unknown') asked.delete(id)
        if (known.state === 'used') records.settle(id, 'spent', known.takenMicroUsd)
        if (known.state === 'unused' && known.isFinal) records.settle(id, 'void')
      }
    },
  }
}
