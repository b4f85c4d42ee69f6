import type { Lease } from '#platform/access/principals.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import {
  type AgentPrincipals,
  type PrincipalRights,
  toRequesterPrincipal,
  toWalletPrincipal,
} from '../base/agentPrincipals.ts'
import { lookupDelayMs } from '../base/lookupDelay.ts'
import type { PaymentJournal } from './paymentJournal.ts'
import type { PaymentRepository, StoredPayment } from './paymentRepository.ts'
import { isFinal } from './paymentStates.ts'

type Options = {
  principals: Pick<AgentPrincipals, 'lease'>
  payments: Pick<PaymentRepository, 'find' | 'listUnsent'>
  journal: Pick<PaymentJournal, 'subscribe' | 'transition'>
  findAccount: (intentId: string) => IntentRecord['account_id'] | undefined
}

/**
 * Refuses unsent payments when their requester or account ends. A sent payment continues to a known outcome, because
 * the seller may have it. Once an unsent signature expired, the chain is queried, because the requester may have read
 * it.
 */
export function createPaymentLeases({ principals, payments, journal, findAccount }: Options): {
  close(): void
} {
  const activeLeases = new Map<PaymentId, readonly Lease<PrincipalRights>[]>()

  const release = (id: PaymentId): void => {
    for (const lease of activeLeases.get(id) ?? []) lease.release()
    activeLeases.delete(id)
  }
  const refuse = (id: PaymentId, { message: error }: AppError): void => {
    const expiry = payments.find(id)?.record.valid_until ?? null
    const change =
      expiry === null ? { paid: false, nextAtMs: null } : { paid: null, nextAtMs: Date.parse(expiry) + lookupDelayMs }
    journal.transition(id, 'refused', { ...change, error })
  }

  const hold = ({ record: { id, requester, intent_id: intentId } }: StoredPayment): void => {
    if (activeLeases.has(id)) return
    const account = intentId === null ? undefined : findAccount(intentId)
    const owners = [toRequesterPrincipal(requester), ...(account === undefined ? [] : [toWalletPrincipal(account)])]
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
    if (isUnsent(payment)) hold(payment)
    else release(payment.record.id)
  })
  for (const payment of payments.listUnsent()) hold(payment)
  return {
    close() {
      unsubscribe()
      for (const id of [...activeLeases.keys()]) release(id)
    },
  }
}

function isUnsent({ record: { state }, attempts }: StoredPayment): boolean {
  return attempts === 0 && !isFinal(state)
}
