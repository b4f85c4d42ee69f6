import type { Transaction } from '#storage/store.ts'
import type { Params } from '#storage/table.ts'
import type { KeyDayAmounts } from './ledgerRepository.ts'
import { type LedgerChanges, type LedgerRows, toKeyDayId } from './ledgerWorkingSet.ts'
import { definePostgres } from './postgresLedgerStatements.ts'

const insertHolds = definePostgres<Params<'rows'>>(
  `INSERT INTO credit_holds
     (id, account_id, key_id, key_day, key_limit, amount, model, created_at_ms, expires_at_ms)
   SELECT id, "accountId", "keyId", "keyDay", "keyLimit", amount, model, "createdAtMs", "expiresAtMs"
   FROM json_to_recordset(@rows::json) AS new (id bigint, "accountId" text, "keyId" text, "keyDay" bigint,
     "keyLimit" bigint, amount bigint, model text, "createdAtMs" bigint, "expiresAtMs" bigint)`,
)
const insertTransfers = definePostgres<Params<'rows'>>(
  `INSERT INTO credit_transfers (id, type, debit_account, credit_account, amount, debit_balance, credit_balance,
     description, details, refund_of, at_ms, key_id, hold_id, request_key)
   SELECT id, type, "debitAccount", "creditAccount", amount, "debitBalance", "creditBalance",
     description, details, "refundOf", "atMs", "keyId", "holdId", "requestKey"
   FROM json_to_recordset(@rows::json) AS new (position bigint, id text, type text, "debitAccount" text,
     "creditAccount" text, amount bigint, "debitBalance" bigint, "creditBalance" bigint, description text,
     details text, "refundOf" text, "atMs" bigint, "keyId" text, "holdId" bigint, "requestKey" text)
   ORDER BY position`,
)
const insertKeyDays = definePostgres<Params<'rows'>>(
  `INSERT INTO credit_key_days (key_id, day) SELECT "keyId", day
   FROM json_to_recordset(@rows::json) AS new ("keyId" text, day bigint)
   ORDER BY day, "keyId" ON CONFLICT (key_id, day) DO NOTHING`,
)
const upsertMeters = definePostgres<Params<'rows'>>(
  `INSERT INTO sandbox_meters (sandbox_id, until_ms, started_at_ms, running_ms, epoch)
   SELECT "sandboxId", "untilMs", "startedAtMs", "runningMs", epoch
   FROM json_to_recordset(@rows::json) AS new ("sandboxId" text, "untilMs" bigint, "startedAtMs" bigint,
     "runningMs" double precision, epoch text)
   ON CONFLICT (sandbox_id) DO UPDATE SET until_ms = excluded.until_ms, started_at_ms = excluded.started_at_ms,
     running_ms = excluded.running_ms, epoch = excluded.epoch`,
)
/** One round trip for all updates. Each affects other tables, so their order does not matter. */
const applyDifferences = definePostgres<Params<'accounts' | 'holds' | 'keyDays'>>(
  `WITH changed AS (
     UPDATE credit_accounts AS account SET debits = account.debits + change.debits,
       credits = account.credits + change.credits, held = account.held + change.held,
       entries = account.entries + change.entries
     FROM json_to_recordset(@accounts::json) AS change (id text, debits bigint, credits bigint, held bigint,
       entries bigint)
     WHERE account.id = change.id RETURNING 1
   ), ended AS (
     UPDATE credit_holds AS hold SET state = change.state, ended_at_ms = change."atMs"
     FROM json_to_recordset(@holds::json) AS change (id bigint, state text, "atMs" bigint)
     WHERE hold.id = change.id AND hold.state = 'open' RETURNING 1
   ), counted AS (
     UPDATE credit_key_days AS key_day SET spent = key_day.spent + change.spent, held = key_day.held + change.held
     FROM json_to_recordset(@keyDays::json) AS change ("keyId" text, day bigint, spent bigint, held bigint)
     WHERE key_day.key_id = change."keyId" AND key_day.day = change.day RETURNING 1
   )
   SELECT (SELECT count(*) FROM changed) AS accounts, (SELECT count(*) FROM ended) AS holds,
     (SELECT count(*) FROM counted) AS "keyDays"`,
).withRows((row) => ({ accounts: Number(row.accounts), holds: Number(row.holds), keyDays: Number(row.keyDays) }))

/** Writes the changes of a working set on `rows`. @throws Error if a row is no longer as it was loaded */
export async function writeLedgerChanges(tx: Transaction, changes: LedgerChanges, rows: LedgerRows): Promise<void> {
  const { accounts, newHolds, endedHolds, keyDays, newTransfers, meters } = changes
  const newKeyDays = [...keyDays.values()].filter((it) => isZero(rows.keyDays.get(toKeyDayId(it))))
  if (newKeyDays.length > 0) await tx.run(insertKeyDays, { rows: JSON.stringify(newKeyDays) })
  if (newHolds.length > 0) await tx.run(insertHolds, { rows: JSON.stringify(newHolds) })
  if (accounts.size + endedHolds.size + keyDays.size > 0) {
    const changed = await tx.first(applyDifferences, {
      accounts: JSON.stringify([...accounts].map(([id, amounts]) => ({ id, ...amounts }))),
      holds: JSON.stringify([...endedHolds].map(([id, end]) => ({ id, ...end }))),
      keyDays: JSON.stringify([...keyDays.values()]),
    })
    const expected = { accounts: accounts.size, holds: endedHolds.size, keyDays: keyDays.size }
    if (JSON.stringify(changed) !== JSON.stringify(expected))
      throw new Error(`The ledger changed ${JSON.stringify(changed)} rows instead of ${JSON.stringify(expected)}.`)
  }
  if (newTransfers.length > 0) {
    const positioned = newTransfers.map((row, position) => ({ ...row, position }))
    await tx.run(insertTransfers, { rows: JSON.stringify(positioned) })
  }
  if (meters.size > 0) await tx.run(upsertMeters, { rows: JSON.stringify([...meters.values()]) })
}

/** Whether the row may not exist yet. */
function isZero(amounts: KeyDayAmounts | undefined): boolean {
  return amounts !== undefined && amounts.spent === 0 && amounts.held === 0
}
