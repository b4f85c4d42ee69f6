import { Asker, Grant } from '../../../shared/contract/intents.ts'
import { isoTime } from '../../../shared/time.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type GrantRepository = {
  add(grant: Grant): void
  /** Those that hold: first the ones that end by the clock, then the ones that are counted. */
  holding(nowMs: number): Grant[]
  /** Counts it down for an intent. @returns false when it does not hold any more */
  reserve(id: string, intentId: string, nowMs: number): boolean
  /** The intent was signed. */
  commit(intentId: string): void
  /** The intent was not signed: its grant is counted up again, unless it was removed meanwhile. */
  giveBack(intentId: string): void
  remove(id: string): boolean
}

type Row = {
  id: string
  kind: string
  asker: string
  host: string | null
  scope: string | null
  accountId: string
  maxAmount: string | null
  timesLeft: number | null
  untilMs: number | null
  createdAtMs: number
}

const holds = '(times_left IS NULL OR times_left > 0) AND (until_ms IS NULL OR until_ms > @nowMs)'

export function grantRepository(database: Database): GrantRepository {
  const add = database.prepare(
    `INSERT INTO grants VALUES (@id, @kind, @asker, @host, @scope, @accountId, @maxAmount, @timesLeft, @untilMs, @createdAtMs)`,
  )
  // Amounts have up to 18 digits, more than a number of JavaScript holds exactly.
  const holding = database.prepare<[{ nowMs: number }], Row>(
    `SELECT id, kind, asker, host, scope, account_id AS accountId, CAST(max_amount_micro_usd AS TEXT) AS maxAmount,
       times_left AS timesLeft, until_ms AS untilMs, created_at_ms AS createdAtMs
     FROM grants WHERE ${holds} ORDER BY times_left IS NOT NULL, created_at_ms, rowid`,
  )
  const countDown = database.prepare<[{ id: string; nowMs: number }]>(
    `UPDATE grants SET times_left = times_left - 1 WHERE id = @id AND ${holds}`,
  )
  const countUp = database.prepare<[string]>(
    `UPDATE grants SET times_left = times_left + 1
     WHERE id = (SELECT grant_id FROM grant_reservations WHERE intent_id = ?)`,
  )
  const addReservation = database.prepare<[string, string]>('INSERT INTO grant_reservations VALUES (?, ?)')
  const removeReservation = database.prepare<[string]>('DELETE FROM grant_reservations WHERE intent_id = ?')
  // The last time of one may still be given back.
  const removeEnded = database.prepare<[{ nowMs: number }]>(
    `DELETE FROM grants WHERE NOT (${holds})
       AND NOT EXISTS (SELECT 1 FROM grant_reservations WHERE grant_id = grants.id)`,
  )
  const remove = database.prepare<[string]>('DELETE FROM grants WHERE id = ?')

  return {
    add(grant) {
      add.run({
        id: grant.id,
        kind: grant.kind,
        asker: JSON.stringify(grant.asker),
        host: grant.host,
        scope: grant.scope,
        accountId: grant.account_id,
        maxAmount: grant.max_amount_micro_usd === null ? null : BigInt(grant.max_amount_micro_usd),
        timesLeft: grant.times_left,
        untilMs: grant.until === null ? null : Date.parse(grant.until),
        createdAtMs: Date.parse(grant.created_at),
      })
    },
    holding: (nowMs) => holding.all({ nowMs }).flatMap(understood),
    reserve(id, intentId, nowMs) {
      removeEnded.run({ nowMs })
      if (countDown.run({ id, nowMs }).changes === 0) return false
      addReservation.run(intentId, id)
      return true
    },
    commit(intentId) {
      removeReservation.run(intentId)
    },
    giveBack(intentId) {
      countUp.run(intentId)
      removeReservation.run(intentId)
    },
    remove: (id) => remove.run(id).changes === 1,
  }
}

/** One that cannot be understood allows nothing. */
function understood(row: Row): Grant[] {
  const { data } = Grant.safeParse({
    id: row.id,
    kind: row.kind,
    asker: askerOf(row.asker),
    host: row.host,
    scope: row.scope,
    account_id: row.accountId,
    max_amount_micro_usd: row.maxAmount,
    times_left: row.timesLeft,
    until: row.untilMs === null ? null : isoTime(row.untilMs),
    created_at: isoTime(row.createdAtMs),
  })
  return data ? [data] : []
}

function askerOf(text: string): Asker | undefined {
  try {
    return Asker.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // the whole grant is left out then
  }
}
