import { z } from 'zod'
import type { PaymentReceipt } from '#shared/contract/paymentRecords.ts'

/** Response of the service to a completed sale, and to a sale that failed after the payment. */
const Sold = z.object({
  domain: z.string().optional(),
  status: z.enum(['active', 'expired', 'pending']).optional(),
  expires_at: z.string().optional(),
  credits_cents: z.number().optional(),
  credited_cents: z.number().optional(),
  error: z.string().optional(),
  /** Sandbox that the domain was pointed to. */
  sandbox: z.object({ url: z.string().nullable(), error: z.string().nullable() }).optional(),
})
export type Sold = z.infer<typeof Sold>

export type PurchaseOutcome =
  /** Purchase completed. */
  | { kind: 'done'; sold: Sold }
  /** Paid but not delivered. `creditedCents` is the amount credited instead. */
  | { kind: 'credited'; creditedCents: number | undefined; reason: string | undefined }
  | { kind: 'unpaid'; reason: string | null }
  /** The seller rejected the signed payment or did not confirm it. The money may still be transferred. */
  | { kind: 'unclear'; reason: string | null }

/** Returns the outcome of a purchase. @returns undefined while the purchase is in progress */
export function getPurchaseOutcome(payment: PaymentReceipt): PurchaseOutcome | undefined {
  const { state, paid, answer, error } = payment
  if (state === 'unknown') return { kind: 'unclear', reason: error }
  if (state === 'refused') return { kind: paid === null ? 'unclear' : 'unpaid', reason: error }
  if (state !== 'settled' && state !== 'reconciled') return undefined
  if (paid !== true) return { kind: 'unpaid', reason: error }
  const sold = readSoldThing(answer)
  if (answer && answer.status < 400) return { kind: 'done', sold: sold ?? {} }
  return { kind: 'credited', creditedCents: sold?.credited_cents, reason: sold?.error }
}

function readSoldThing(answer: PaymentReceipt['answer']): Sold | undefined {
  if (answer?.encoding !== 'utf8') return undefined
  try {
    return Sold.safeParse(JSON.parse(answer.body)).data
  } catch {
    return undefined
  }
}
