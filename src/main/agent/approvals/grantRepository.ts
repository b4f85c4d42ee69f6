import { Grant, Requester } from '#shared/contract/intents.ts'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  amount,
  defineTable,
  json,
  nullable,
  number,
  type Params,
  type RowOf,
  type StoredRow,
  text,
} from '#storage/table.ts'

const grants = defineTable('grants', {
  id: text(),
  kind: text<Grant['kind']>(),
  requester: json(Requester.parse),
  host: nullable(text()),
  scope: nullable(text()),
  path: nullable(text()),
  accountId: text<WalletAccountId>(),
  /** Up to 18 digits. */
  maxAmountMicroUsd: nullable(amount()),
  timesLeft: nullable(number()),
  untilMs: nullable(number()),
  createdAtMs: number(),
})

/** Stores grants. Skips rows that cannot be parsed, which therefore allow nothing. */
export type GrantRepository = {
  add(grant: Grant): void
  /** Lists valid grants: unlimited ones first, then by age. */
  holding(nowMs: number): Grant[]
  /** Reserves one use for an intent. @returns false if the grant is no longer valid */
  reserve(id: string, intentId: string, nowMs: number): boolean
  /** Commits the reservation of a signed intent. */
  commit(intentId: string): void
  /** Releases the reservation of an intent that was not signed, and restores the use if the grant still exists. */
  giveBack(intentId: string): void
  remove(id: string): boolean
}

const isValidCondition = '(times_left IS NULL OR times_left > 0) AND (until_ms IS NULL OR until_ms > @nowMs)'

export function createGrantRepository(database: Database): GrantRepository {
  const add = database.prepare<[Params<keyof RowOf<typeof grants>>]>(grants.insert)
  const holding = database.prepare<[Params<'nowMs'>], StoredRow>(
    `SELECT ${grants.selection()} FROM grants WHERE ${isValidCondition}
     ORDER BY times_left IS NOT NULL, created_at_ms, rowid`,
  )
  const countDown = database.prepare<[Params<'id' | 'nowMs'>]>(
    `UPDATE grants SET times_left = times_left - 1 WHERE id = @id AND ${isValidCondition}`,
  )
  const countUp = database.prepare<[Params<'intentId'>]>(
    `UPDATE grants SET times_left = times_left + 1
     WHERE id = (SELECT grant_id FROM grant_reservations WHERE intent_id = @intentId)`,
  )
  const addReservation = database.prepare<[Params<'intentId' | 'id'>]>(
    'INSERT INTO grant_reservations (intent_id, grant_id) VALUES (@intentId, @id)',
  )
  const removeReservation = database.prepare<[Params<'intentId'>]>(
    'DELETE FROM grant_reservations WHERE intent_id = @intentId',
  )
  // A grant without remaining uses is retained while a reservation may still restore one.
  const removeEnded = database.prepare<[Params<'nowMs'>]>(
    `DELETE FROM grants WHERE NOT (${isValidCondition})
       AND NOT EXISTS (SELECT 1 FROM grant_reservations WHERE grant_id = grants.id)`,
  )
  const remove = database.prepare<[Params<'id'>]>('DELETE FROM grants WHERE id = @id')

  return {
    add(grant) {
      const { id, kind, requester, host, scope, max_amount_micro_usd: maxAmount, until } = grant
      add.run(
        grants.params({
          ...{ id, kind, requester, host, scope, path: grant.path ?? null },
          accountId: grant.account_id,
          maxAmountMicroUsd: maxAmount === null ? null : BigInt(maxAmount),
          timesLeft: grant.times_left,
          untilMs: until === null ? null : Date.parse(until),
          createdAtMs: Date.parse(grant.created_at),
        }),
      )
    },
    holding: (nowMs) => holding.all({ nowMs }).flatMap((row) => parseRow(row) ?? []),
    reserve(id, intentId, nowMs) {
      removeEnded.run({ nowMs })
      if (countDown.run({ id, nowMs }).changes === 0) return false
      addReservation.run({ intentId, id })
      return true
    },
    commit(intentId) {
      removeReservation.run({ intentId })
    },
    giveBack(intentId) {
      countUp.run({ intentId })
      removeReservation.run({ intentId })
    },
    remove: (id) => remove.run({ id }).changes === 1,
  }
}

function parseRow(stored: StoredRow): Grant | undefined {
  const row = grants.tryFromRow(stored)
  if (!row) return undefined
  const { id, kind, requester, host, scope, path, accountId, maxAmountMicroUsd, timesLeft, untilMs, createdAtMs } = row
  return Grant.safeParse({
    ...{ id, kind, requester, host, scope, path },
    account_id: accountId,
    max_amount_micro_usd: maxAmountMicroUsd === null ? null : String(maxAmountMicroUsd),
    times_left: timesLeft,
    until: untilMs === null ? null : toIsoTime(untilMs),
    created_at: toIsoTime(createdAtMs),
  }).data
}
