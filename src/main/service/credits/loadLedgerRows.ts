import type { SandboxId } from '#shared/ids.ts'
import { toMicroUsd } from '#shared/microUsd.ts'
import type { Transaction } from '#storage/store.ts'
import type { Params, StoredRow } from '#storage/table.ts'
import { dayMs } from './keyLimits.ts'
import { issuedAccount, type KeyDay, type KeyDayAmounts, meters, transfers } from './ledgerRepository.ts'
import { type LedgerKeys, maxHolds } from './ledgerStore.ts'
import {
  type AccountAmounts,
  type LedgerRows,
  type LoadedHold,
  type LoadedTransfer,
  toKeyDayId,
} from './ledgerWorkingSet.ts'
import { definePostgres } from './postgresLedgerStatements.ts'

// Lists of keys are passed as JSON. `= ANY (ARRAY(…))` lets the planner use the index for any number of them.
const texts = (name: string) => `ANY (ARRAY(SELECT json_array_elements_text(@${name}::json)))`
const integers = (name: string) => `ANY (ARRAY(SELECT json_array_elements_text(@${name}::json)::bigint))`

const readAccount = (row: StoredRow): [string, AccountAmounts] => [
  String(row.id),
  {
    debits: Number(row.debits),
    credits: Number(row.credits),
    held: Number(row.held),
    entries: Number(row.entries),
  },
]
const accountsSelection = `SELECT id, debits, credits, held, entries FROM credit_accounts WHERE id = ${texts('ids')}`
const readAccounts = definePostgres<Params<'ids'>>(accountsSelection).withRows(readAccount)
const lockAccounts = definePostgres<Params<'ids'>>(`${accountsSelection} ORDER BY id FOR UPDATE`).withRows(readAccount)
const addAccounts = definePostgres<Params<'ids'>>(
  `INSERT INTO credit_accounts (id, kind) SELECT id, 'user' FROM json_array_elements_text(@ids::json) AS new (id)
   ORDER BY id ON CONFLICT (id) DO NOTHING`,
)

/** Columns that never change, so that they may be read before the account is locked. */
const holdKeysSelection =
  'SELECT id, account_id AS "accountId", key_id AS "keyId", key_day AS "keyDay" FROM credit_holds'
const readHoldKeys = (row: StoredRow) => ({
  id: Number(row.id),
  accountId: String(row.accountId),
  keyDay: row.keyId === null || row.keyDay === null ? [] : [{ keyId: String(row.keyId), day: Number(row.keyDay) }],
})
const findHoldKeys = definePostgres<Params<'ids'>>(`${holdKeysSelection} WHERE id = ${integers('ids')}`).withRows(
  readHoldKeys,
)
const listOpenHoldKeys = definePostgres(
  `${holdKeysSelection} WHERE state = 'open' ORDER BY id LIMIT ${maxHolds}`,
).withRows(readHoldKeys)
const listExpiredHoldKeys = definePostgres<Params<'nowMs'>>(
  `${holdKeysSelection} WHERE state = 'open' AND expires_at_ms <= @nowMs ORDER BY id LIMIT ${maxHolds}`,
).withRows(readHoldKeys)
const readHolds = definePostgres<Params<'ids'>>(
  `SELECT id, account_id AS "accountId", key_id AS "keyId", key_day AS "keyDay", key_limit AS "keyLimit", amount, model,
     state, expires_at_ms AS "expiresAtMs",
     EXISTS (SELECT 1 FROM credit_transfers WHERE hold_id = credit_holds.id) AS "isCharged"
   FROM credit_holds WHERE id = ${integers('ids')}`,
).withRows(
  (row) =>
    ({
      ...row,
      id: Number(row.id),
      amount: toMicroUsd(Number(row.amount)),
      isCharged: row.isCharged === 1,
    }) as LoadedHold, // columns of the table
)

const readKeyDays = definePostgres<Params<'keyDays'>>(
  `SELECT key_id AS "keyId", day, spent, held FROM credit_key_days JOIN
     json_to_recordset(@keyDays::json) AS named ("keyId" text, day bigint) USING (day)
   WHERE key_id = named."keyId"`,
).withRows((row): KeyDay & KeyDayAmounts => ({
  keyId: String(row.keyId),
  day: Number(row.day),
  spent: Number(row.spent),
  held: Number(row.held),
}))

const findDebited = definePostgres<Params<'ids'>>(
  `SELECT debit_account AS id FROM credit_transfers WHERE id = ${texts('ids')}`,
).withRows(({ id }) => String(id))
const readTransfers = definePostgres<Params<'ids' | 'requestKeys'>>(
  `SELECT ${transfers.selection()}, request_key AS "requestKey", (
     SELECT coalesce(sum(amount), 0) FROM credit_transfers AS refund WHERE refund.refund_of = credit_transfers.id
   ) AS refunded
   FROM credit_transfers WHERE id = ${texts('ids')} OR request_key = ${texts('requestKeys')}`,
).withRows(
  (row): LoadedTransfer => ({
    ...transfers.fromRow(row),
    requestKey: row.requestKey === null ? null : String(row.requestKey),
    refunded: Number(row.refunded),
  }),
)
const readMeters = definePostgres<Params<'ids'>>(
  `SELECT ${meters.selection()} FROM sandbox_meters WHERE sandbox_id = ${texts('ids')}`,
).withRows(meters.fromRow)

/**
 * Loads the rows that several changes name.
 * @param revenue account that stores the revenue of this process
 * @param isLocked whether to lock the accounts, and to add those that do not exist yet
 */
export async function loadLedgerRows(
  tx: Transaction,
  keys: readonly LedgerKeys[],
  { revenue, nowMs, isLocked }: { revenue: string; nowMs: number; isLocked: boolean },
): Promise<LedgerRows> {
  const holdKeys = await loadHoldKeys(tx, keys, nowMs)
  const transferIds = unique(keys.flatMap((it) => it.transfers ?? []))
  const debited = transferIds.length === 0 ? [] : await tx.all(findDebited, { ids: JSON.stringify(transferIds) })
  const ids = unique([
    ...keys.flatMap(({ accounts = [] }) => accounts),
    ...holdKeys.map(({ accountId }) => accountId),
    ...debited,
    ...(keys.some(({ issues }) => issues) ? [issuedAccount] : []),
    revenue,
  ])
  const accounts = isLocked ? await lockAll(tx, ids) : await readAll(tx, ids)
  const issued = accounts.get(issuedAccount) ?? (await readAll(tx, [issuedAccount])).get(issuedAccount)
  if (!issued) throw new Error(`There is no credit account ${issuedAccount}.`)

  // Everything below is read after the locks.
  const holdIds = unique(holdKeys.map(({ id }) => id))
  const holds = holdIds.length === 0 ? [] : await tx.all(readHolds, { ids: JSON.stringify(holdIds) })
  const keyDays = await loadKeyDays(tx, [...listKeyDays(keys, nowMs), ...holdKeys.flatMap(({ keyDay }) => keyDay)])
  const requestKeys = unique(keys.flatMap((it) => it.requestKeys ?? []).filter((it) => it !== undefined))
  const loadedTransfers =
    transferIds.length + requestKeys.length === 0
      ? []
      : await tx.all(readTransfers, { ids: JSON.stringify(transferIds), requestKeys: JSON.stringify(requestKeys) })
  const named = {
    holds: new Set([...holdIds, ...keys.flatMap((it) => (Array.isArray(it.holds) ? it.holds : []))]),
    transfers: new Set(transferIds),
    requestKeys: new Set(requestKeys),
  }
  return { accounts, issued, holds, keyDays, transfers: loadedTransfers, meters: await loadMeters(tx, keys), named }
}

async function loadHoldKeys(tx: Transaction, keys: readonly LedgerKeys[], nowMs: number) {
  const ids = unique(keys.flatMap(({ holds }) => (holds === undefined || typeof holds === 'string' ? [] : holds)))
  return [
    ...(ids.length > 0 ? await tx.all(findHoldKeys, { ids: JSON.stringify(ids) }) : []),
    ...(keys.some(({ holds }) => holds === 'open') ? await tx.all(listOpenHoldKeys) : []),
    ...(keys.some(({ holds }) => holds === 'expired') ? await tx.all(listExpiredHoldKeys, { nowMs }) : []),
  ]
}

async function readAll(tx: Transaction, ids: readonly string[]): Promise<Map<string, AccountAmounts>> {
  const accounts = new Map(await tx.all(readAccounts, { ids: JSON.stringify(ids) }))
  for (const id of ids) if (!accounts.has(id)) accounts.set(id, { debits: 0, credits: 0, held: 0, entries: 0 })
  return accounts
}

async function lockAll(tx: Transaction, ids: readonly string[]): Promise<Map<string, AccountAmounts>> {
  const accounts = new Map(await tx.all(lockAccounts, { ids: JSON.stringify(ids) }))
  const missing = JSON.stringify(ids.filter((id) => !accounts.has(id)))
  if (missing === '[]') return accounts
  // Another process may add them first. Then its credits count.
  await tx.run(addAccounts, { ids: missing })
  return new Map([...accounts, ...(await tx.all(lockAccounts, { ids: missing }))])
}

/** Lists the current day of the named keys, and the next one, which may begin before the changes are decided. */
function listKeyDays(keys: readonly LedgerKeys[], nowMs: number): KeyDay[] {
  const today = Math.floor(nowMs / dayMs)
  const keyIds = unique(keys.flatMap((it) => it.keyIds ?? []))
  return keyIds.flatMap((keyId) => [today, today + 1].map((day) => ({ keyId, day })))
}

async function loadKeyDays(tx: Transaction, named: readonly KeyDay[]): Promise<Map<string, KeyDayAmounts>> {
  const keyDays = new Map<string, KeyDayAmounts>(named.map((it) => [toKeyDayId(it), { spent: 0, held: 0 }]))
  if (named.length === 0) return keyDays
  for (const row of await tx.all(readKeyDays, { keyDays: JSON.stringify(named) })) keyDays.set(toKeyDayId(row), row)
  return keyDays
}

async function loadMeters(tx: Transaction, keys: readonly LedgerKeys[]): Promise<LedgerRows['meters']> {
  const ids = unique(keys.flatMap((it) => it.meters ?? []))
  const rows: LedgerRows['meters'] = new Map(ids.map((id) => [id, undefined]))
  if (ids.length === 0) return rows
  const loaded = (await tx.all(readMeters, { ids: JSON.stringify(ids) })).map((row) => [row.sandboxId, row] as const)
  return new Map<SandboxId, (typeof loaded)[number][1] | undefined>([...rows, ...loaded])
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)]
}
