import type { Database } from '../../storage/openDatabase.ts'

/**
 * The `Idempotency-Key` of a payment, so that a call that is repeated because its answer was lost pays nothing twice:
 * the same caller, tool and arguments have the same key until the key was not used for a minute.
 */
export type PaymentKeys = { keyOf(digest: string): string }

const keptMs = 60_000

type Options = { database: Database /** Random. */; newId: () => string; now: () => number }

export function paymentKeys({ database, newId, now }: Options): PaymentKeys {
  const find = database.prepare<[string, number], { key: string }>(
    'SELECT key FROM tool_payments WHERE digest = ? AND used_at_ms > ?',
  )
  const write = database.prepare<[string, string, number]>(
    `INSERT INTO tool_payments VALUES (?, ?, ?)
     ON CONFLICT (digest) DO UPDATE SET key = excluded.key, used_at_ms = excluded.used_at_ms`,
  )
  const forget = database.prepare<[number]>('DELETE FROM tool_payments WHERE used_at_ms <= ?')
  return {
    keyOf: (digest) =>
      database
        .transaction(() => {
          const nowMs = now()
          const key = find.get(digest, nowMs - keptMs)?.key ?? `tool_${newId()}`
          forget.run(nowMs - keptMs)
          write.run(digest, key, nowMs)
          return key
        })
        .immediate(),
  }
}
