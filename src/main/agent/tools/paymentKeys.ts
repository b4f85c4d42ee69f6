import type { Database } from '../../storage/openDatabase.ts'

/**
 * The `Idempotency-Key` of a payment, so that a call that is repeated because its answer was lost pays nothing twice:
 * the same caller, tool and arguments have the same key for a day while the payment waits or is unclear, and for a minute
 * once it has ended.
 */
export type PaymentKeys = {
  keyOf(digest: string): string
  /** What the key stands for waits, is unclear, or has ended. */
  used(digest: string, state: 'open' | 'ended'): void
}

const keptMs = 60_000
const openMs = 24 * 3600 * 1000

type Options = { database: Database /** Random. */; newId: () => string; now: () => number }

export function paymentKeys({ database, newId, now }: Options): PaymentKeys {
  const find = database.prepare<[string, number], { key: string }>(
    'SELECT key FROM tool_payments WHERE digest = ? AND used_at_ms > ?',
  )
  const write = database.prepare<[string, string, number]>(
    `INSERT INTO tool_payments VALUES (?, ?, ?)
     ON CONFLICT (digest) DO UPDATE SET key = excluded.key, used_at_ms = excluded.used_at_ms`,
  )
  const change = database.prepare<[number, string]>('UPDATE tool_payments SET used_at_ms = ? WHERE digest = ?')
  const forget = database.prepare<[number]>('DELETE FROM tool_payments WHERE used_at_ms <= ?')
  return {
    keyOf: (digest) =>
      database
        .transaction(() => {
          const nowMs = now()
          forget.run(nowMs - keptMs)
          const known = find.get(digest, nowMs - keptMs)?.key
          if (known !== undefined) return known
          const key = `tool_${newId()}`
          write.run(digest, key, nowMs)
          return key
        })
        .immediate(),
    used: (digest, state) => void change.run(state === 'open' ? now() + openMs : now(), digest),
  }
}
