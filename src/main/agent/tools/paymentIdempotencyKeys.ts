import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'

/**
 * Stores the `Idempotency-Key` of each paying call, so that a retry never pays twice. The same caller, tool and
 * arguments find the same payment while its outcome is unknown, and for one minute afterwards.
 */
export type PaymentIdempotencyKeys = {
  /** @returns the key to send, and the payment of an earlier call, which a retry reports instead of a new one */
  begin(digest: string): { key: string; payment: PaymentId | undefined }
  /** Must run in the transaction that creates the payment. */
  attach(digest: string, payment: PaymentId): void
  /** Marks a call as ended. Has no effect if it created a payment. */
  end(digest: string): void
}

/** State of a payment that decides whether its key is reused. */
export type PaymentOutcome = { paid: boolean | null; updatedAtMs: number }

/** Time in which a client retries after a lost response. */
const repeatMs = 60_000
/** Maximum time from the start of a call to its payment. */
const beginMs = 5 * 60_000
const minAgeMs = 24 * 3600 * 1000
const batchSize = 20

type Row = { key: string; usedAtMs: number; paymentId: PaymentId | null }
type Options = {
  database: Database
  /** @returns undefined if the payment was deleted */
  findOutcome: (payment: PaymentId) => PaymentOutcome | undefined
  newId: () => string
  now: () => number
}

export function createPaymentIdempotencyKeys({ database, findOutcome, newId, now }: Options): PaymentIdempotencyKeys {
  const find = database.prepare<[string], Row>(
    'SELECT key, used_at_ms AS usedAtMs, payment_id AS paymentId FROM tool_payments WHERE digest = ?',
  )
  const write = database.prepare<[string, string, number]>(
    `INSERT INTO tool_payments (digest, key, used_at_ms) VALUES (?, ?, ?)
     ON CONFLICT (digest) DO UPDATE SET key = excluded.key, used_at_ms = excluded.used_at_ms, payment_id = NULL`,
  )
  const attach = database.prepare<[PaymentId, number, string]>(
    'UPDATE tool_payments SET payment_id = ?, used_at_ms = ? WHERE digest = ?',
  )
  const end = database.prepare<[number, string]>(
    'UPDATE tool_payments SET used_at_ms = ? WHERE digest = ? AND payment_id IS NULL',
  )
  const old = database.prepare<[number, number], { digest: string; paymentId: PaymentId | null }>(
    `SELECT digest, payment_id AS paymentId FROM tool_payments WHERE used_at_ms <= ? LIMIT ?`,
  )
  const remove = database.prepare<[string]>('DELETE FROM tool_payments WHERE digest = ?')

  const isOpen = (payment: PaymentId): boolean => findOutcome(payment)?.paid === null
  const isRepeated = ({ usedAtMs, paymentId }: Row): boolean => {
    if (paymentId === null) return usedAtMs > now() - repeatMs
    const outcome = findOutcome(paymentId)
    return outcome !== undefined && (outcome.paid === null || outcome.updatedAtMs > now() - repeatMs)
  }
  const forgetOld = (): void => {
    for (const { digest, paymentId } of old.all(now() - minAgeMs, batchSize)) {
      if (paymentId === null || !isOpen(paymentId)) remove.run(digest)
    }
  }

  return {
    begin: (digest) =>
      database
        .transaction(() => {
          forgetOld()
          const row = find.get(digest)
          if (row && isRepeated(row)) return { key: row.key, payment: row.paymentId ?? undefined }
          const key = `tool_${newId()}`
          write.run(digest, key, now() + beginMs)
          return { key, payment: undefined }
        })
        .immediate(),
    attach: (digest, payment) => void attach.run(payment, now(), digest),
    end: (digest) => void end.run(now(), digest),
  }
}
