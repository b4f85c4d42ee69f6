import type { RenewalProblem } from '../../../../shared/contract/domainRenewals.ts'
import type { Database } from '../../../storage/openDatabase.ts'

export type Settings = {
  domain: string
  enabled: boolean
  daysBefore: number
  years: number
  /** For one renewal, all years. */
  mostMicroUsd: number
}

/** What became of the renewal for one expiry. */
export type Turn = {
  domain: string
  expiresAtMs: number
  state: 'planned' | 'begun' | 'renewed' | 'credited' | 'declined' | 'superseded'
  /** Of the present attempt, or of the one that ended it. */
  intentId: string | null
  /** Those that have failed. */
  attempts: number
  nextAtMs: number | null
  problem: RenewalProblem | null
}

export type Notice = { domain: string; expiresAtMs: number; days: number; toldAtMs: number }

/** Of the account that is signed in now: another one has its own. */
export type RenewalRepository = {
  settings(): Settings[]
  find(domain: string): Settings | undefined
  set(settings: Settings): void
  remove(domain: string): void
  turn(domain: string, expiresAtMs: number): Turn | undefined
  turns(): Turn[]
  keepTurn(turn: Turn): void
  unseen(): Notice[]
  /** The fewest days that were told, by `noticeKey`. */
  allTold(): Map<string, number>
  addNotice(notice: Notice): void
  seeAll(): void
  /** Another one after each change. */
  version(): number
  atomically<T>(work: () => T): T
}

type SettingsRow = Omit<Settings, 'enabled'> & { enabled: 0 | 1 }
type TurnRow = Omit<Turn, 'problem'> & { problemKind: RenewalProblem['kind'] | null; problem: string | null }

export function renewalRepository(options: {
  database: Database
  place: () => string
  now: () => number
}): RenewalRepository {
  const { database, place, now } = options
  const settings = `SELECT domain, enabled, days_before AS daysBefore, years, most_micro_usd AS mostMicroUsd
    FROM domain_renewals WHERE place = ?`
  const list = database.prepare<[string], SettingsRow>(`${settings} ORDER BY domain`)
  const find = database.prepare<[string, string], SettingsRow>(`${settings} AND domain = ?`)
  const set = database.prepare<[string, string, number, number, number, number]>(
    'INSERT OR REPLACE INTO domain_renewals VALUES (?, ?, ?, ?, ?, ?)',
  )
  const remove = database.prepare<[string, string]>('DELETE FROM domain_renewals WHERE place = ? AND domain = ?')
  const turns = `SELECT domain, expires_at_ms AS expiresAtMs, state, intent_id AS intentId, attempts,
    next_at_ms AS nextAtMs, problem_kind AS problemKind, problem FROM domain_renewal_turns WHERE place = ?`
  const turn = database.prepare<[string, string, number], TurnRow>(`${turns} AND domain = ? AND expires_at_ms = ?`)
  const allTurns = database.prepare<[string], TurnRow>(turns)
  const keep = database.prepare(
    `INSERT OR REPLACE INTO domain_renewal_turns (place, domain, expires_at_ms, state, intent_id, attempts, next_at_ms,
       problem_kind, problem, updated_at_ms) VALUES (@place, @domain, @expiresAtMs, @state, @intentId, @attempts, @nextAtMs,
       @problemKind, @problem, @updatedAtMs)`,
  )
  const unseen = database.prepare<[string], Notice>(
    `SELECT domain, expires_at_ms AS expiresAtMs, min(days) AS days, max(told_at_ms) AS toldAtMs FROM domain_notices
      WHERE place = ? AND seen = 0 GROUP BY domain, expires_at_ms ORDER BY expires_at_ms`,
  )
  const told = database.prepare<[string], { domain: string; expiresAtMs: number; days: number }>(
    `SELECT domain, expires_at_ms AS expiresAtMs, min(days) AS days FROM domain_notices WHERE place = ?
      GROUP BY domain, expires_at_ms`,
  )
  const add = database.prepare<[string, string, number, number, number]>(
    'INSERT OR IGNORE INTO domain_notices VALUES (?, ?, ?, ?, ?, 0)',
  )
  const see = database.prepare<[string]>('UPDATE domain_notices SET seen = 1 WHERE place = ? AND seen = 0')
  let version = 0

  return {
    settings: () => list.all(place()).map(settingsOf),
    find: (domain) => [find.get(place(), domain)].flatMap((row) => row ?? []).map(settingsOf)[0],
    set({ domain, enabled, daysBefore, years, mostMicroUsd }) {
      version += 1
      set.run(place(), domain, enabled ? 1 : 0, daysBefore, years, mostMicroUsd)
    },
    remove(domain) {
      version += 1
      remove.run(place(), domain)
    },
    turn: (domain, expiresAtMs) => [turn.get(place(), domain, expiresAtMs)].flatMap((row) => row ?? []).map(turnOf)[0],
    turns: () => allTurns.all(place()).map(turnOf),
    keepTurn({ problem, ...given }) {
      version += 1
      const words = { problemKind: problem?.kind ?? null, problem: problem?.detail ?? null }
      keep.run({ ...given, ...words, place: place(), updatedAtMs: now() })
    },
    unseen: () => unseen.all(place()),
    allTold: () => new Map(told.all(place()).map((it) => [noticeKey(it), it.days])),
    addNotice({ domain, expiresAtMs, days, toldAtMs }) {
      version += 1
      add.run(place(), domain, expiresAtMs, days, toldAtMs)
    },
    seeAll: () => void see.run(place()),
    version: () => version,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}

export function noticeKey({ domain, expiresAtMs }: { domain: string; expiresAtMs: number }): string {
  return `${domain} ${expiresAtMs}`
}

function settingsOf({ enabled, ...row }: SettingsRow): Settings {
  return { ...row, enabled: enabled === 1 }
}

function turnOf({ problemKind, problem, ...row }: TurnRow): Turn {
  return { ...row, problem: problemKind === null || problem === null ? null : { kind: problemKind, detail: problem } }
}
