import type { Lease } from '#platform/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import {
  type AgentPrincipals,
  type PrincipalRights,
  requesterPrincipal,
  walletPrincipal,
} from '../base/agentPrincipals.ts'
import type { PaymentJournal } from './paymentJournal.ts'
import type { PaymentRepository, StoredPayment } from './paymentRepository.ts'

type Options = {
  principals: Pick<AgentPrincipals, 'lease'>
  payments: Pick<PaymentRepository, 'listUndecided'>
  journal: Pick<PaymentJournal, 'subscribe' | 'become'>
  findAccount: (intentId: string) => IntentRecord['account_id'] | undefined
}

/**
 * Rejects unsigned payments when their requester or account ends. A signed one continues to a known outcome, because
 * the seller may have it.
 */
export function holdPaymentLeases({ principals, payments, journal, findAccount }: Options): {
  close(): void
} {
  const activeLeases = new Map<PaymentId, readonly Lease<PrincipalRights>[]>()

  const release = (id: PaymentId): void => {
    for (const lease of activeLeases.get(id) ?? []) lease.release()
    activeLeases.delete(id)
  }
  const refuse = (id: PaymentId, { message: error }: AppError): void =>
    void journal.become(id, 'refused', { paid: false, error, nextAtMs: null })

  const hold = ({ record: { id, asker, intent_id: intentId } }: StoredPayment): void => {
    if (activeLeases.has(id)) return
    const account = intentId === null ? undefined : findAccount(intentId)
    const owners = [requesterPrincipal(asker), ...(account === undefined ? [] : [walletPrincipal(account)])]
    const leases = owners.map((principal) => principals.lease(principal, 'payment'))
    activeLeases.set(id, leases)
    for (const { signal } of leases) {
      const end = (): void => {
        if (signal.reason instanceof AppError) refuse(id, signal.reason)
      }
      if (signal.aborted) end()
      else signal.addEventListener('abort', end, { once: true })
    }
  }
  const unsubscribe = journal.subscribe(({ payment }) => {
    const { id, state } = payment.record
    if (state === 'waiting' || state === 'planned') hold(payment)
    else release(id)
  })
  for (const payment of payments.listUndecided()) hold(payment)
  return {
    close() {
      unsubscribe()
      for (const id of [...activeLeases.keys()]) release(id)
    },
  }
}
