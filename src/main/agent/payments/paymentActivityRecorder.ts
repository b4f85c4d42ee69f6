import type { PaymentState } from '#shared/contract/paymentRecords.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { PaymentRecord } from './paymentRepository.ts'

const kinds = {
  settled: 'payment.settled',
  refused: 'payment.refused',
  unknown: 'payment.unknown',
  reconciled: 'payment.reconciled',
} as const

/** Records each state of a payment once. The requester and the signature are recorded with the intent. */
export function createPaymentActivityRecorder(recordActivity: RecordActivity) {
  return {
    became(record: PaymentRecord, from: PaymentState | undefined): void {
      const { state, requester, title, sentence, id } = record
      const hasOutcome = record.paid !== null
      if (!(state in kinds) || (state === from && !(state === 'refused' && hasOutcome))) return
      recordActivity({
        kind: kinds[state as keyof typeof kinds], // checked above
        actor: { kind: requester.kind, name: requester.name },
        subject: id,
        summary: `${title}: ${sentence}`,
        detail: {
          intent: record.intent_id,
          paid: record.paid,
          amount: record.amount,
          network: record.network,
          pay_to: record.pay_to,
          host: record.host,
          transaction: record.transaction,
          signature_sha256: record.signature_sha256,
          error: record.error,
          ...(isPaid(record) && {
            [record.test ? 'paid_test_micro_usdc' : 'paid_micro_usdc']:
              record.paid_micro_usd ?? record.amount_micro_usd,
          }),
        },
        links: { payment: id, ...(record.intent_id !== null && { intent: record.intent_id }) },
      })
    },
  }
}

/**
 * Whether to record the payment as paid. True only in its final state, because task costs are summed from these
 * entries.
 */
function isPaid({ state, paid }: PaymentRecord): boolean {
  return paid === true && (state === 'settled' || state === 'reconciled')
}
