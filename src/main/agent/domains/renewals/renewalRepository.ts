import type { RenewalProblem } from '#shared/contract/domainRenewals.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, flag, nullable, number, type Params, type RowOf, type StoredRow, text } from '#storage/table.ts'

const settingsTable = defineTable('domain_renewals', {
  /** Account and service, as returned by `DomainCacheRepository.place`. */
  place: text(),
  domain: text(),
  enabled: flag(),
  daysBefore: number(),
  years: number(),
  /** Maximum price of one renewal, for all years. */
  maxMicroUsd: number(),
})
const renewalCycleTable = defineTable('domain_renewal_turns', {
  place: text(),
  domain: text(),
  expiresAtMs: number(),
  state: text<'planned' | 'begun' | 'renewed' | 'credited' | 'declined' | 'superseded'>(),
  /** Intent of the current or last attempt. */
  intentId: nullable(text()),
  attempts: number(),
  nextAtMs: nullable(number()),
  problemKind: nullable(text<RenewalProblem['kind']>()),
  problem: nullable(text()),
  updatedAtMs: number(),
})
const noticeTable = defineTable('domain_notices', {
  place: text(),
  domain: text(),
  expiresAtMs: number(),
  days: number(),
  notifiedAtMs: number(),
  seen: flag(),
})

export type Settings = Omit<RowOf<typeof settingsTable>, 'place'>
/** Outcome of the renewal of one expiry. */
export type RenewalCycle = Omit<
  RowOf<typeof renewalCycleTable>,
  'place' | 'problemKind' | 'problem' | 'updatedAtMs'
> & {
  problem: RenewalProblem | null
}
export type Notice = Omit<RowOf<typeof noticeTable>, 'place' | 'seen'>

/** Renewals of the signed-in account. */
export type RenewalRepository = {
  settings(): Settings[]
  find(domain: string): Settings | undefined
  set(settings: Settings): void
  remove(domain: string): void
  cycle(domain: string, expiresAtMs: number): RenewalCycle | undefined
  cycles(): RenewalCycle[]
  saveCycle(cycle: RenewalCycle): void
  listUnseen(): Notice[]
  /** Returns the lowest notified threshold in days, by `toNoticeKey`. */
  listNotified(): Map<string, number>
  addNotice(notice: Notice): void
  seeAll(): void
  /** Returns a number that increases with each change. */
  version(): number
  atomically<T>(work: () => T): T
}

type OwnerParams = Params<'place'>

export function createRenewalRepository(options: {
  database: Database
  getOwner: () => string
  now: () => number
}): RenewalRepository {
  const { database, getOwner, now } = options
  const settings = `SELECT ${settingsTable.selection()} FROM domain_renewals WHERE place = @place`
  const list = database.prepare<[OwnerParams], StoredRow>(`${settings} ORDER BY domain`)
  const find = database.prepare<[Params<'place' | 'domain'>], StoredRow>(`${settings} AND domain = @domain`)
  const set = database.prepare<[Params<keyof RowOf<typeof settingsTable>>]>(settingsTable.upsert(['place', 'domain']))
  const remove = database.prepare<[Params<'place' | 'domain'>]>(
    'DELETE FROM domain_renewals WHERE place = @place AND domain = @domain',
  )
  const cycles = `SELECT ${renewalCycleTable.selection()} FROM domain_renewal_turns WHERE place = @place`
  const cycle = database.prepare<[Params<'place' | 'domain' | 'expiresAtMs'>], StoredRow>(
    `${cycles} AND domain = @domain AND expires_at_ms = @expiresAtMs`,
  )
  const allCycles = database.prepare<[OwnerParams], StoredRow>(cycles)
  const keep = database.prepare<[Params<keyof RowOf<typeof renewalCycleTable>>]>(
    renewalCycleTable.upsert(['place', 'domain', 'expiresAtMs']),
  )
  const unseen = database.prepare<[OwnerParams], Notice>(
    `SELECT domain, expires_at_ms AS "expiresAtMs", min(days) AS days, max(notified_at_ms) AS "notifiedAtMs"
      FROM domain_notices WHERE place = @place AND seen = 0 GROUP BY domain, expires_at_ms ORDER BY expires_at_ms`,
  )
  const minDays = database.prepare<[OwnerParams], Pick<Notice, 'domain' | 'expiresAtMs' | 'days'>>(
    `SELECT domain, expires_at_ms AS "expiresAtMs", min(days) AS days FROM domain_notices WHERE place = @place
      GROUP BY domain, expires_at_ms`,
  )
  const add = database.prepare<[Params<keyof RowOf<typeof noticeTable>>]>(
    `${noticeTable.insert} ON CONFLICT (place, domain, expires_at_ms, days) DO NOTHING`,
  )
  const see = database.prepare<[OwnerParams]>('UPDATE domain_notices SET seen = 1 WHERE place = @place AND seen = 0')
  let version = 0

  return {
    settings: () => list.all({ place: getOwner() }).map(toSettings),
    find(domain) {
      const row = find.get({ place: getOwner(), domain })
      return row && toSettings(row)
    },
    set({ domain, enabled, daysBefore, years, maxMicroUsd }) {
      version += 1
      set.run(settingsTable.params({ place: getOwner(), domain, enabled, daysBefore, years, maxMicroUsd }))
    },
    remove(domain) {
      version += 1
      remove.run({ place: getOwner(), domain })
    },
    cycle(domain, expiresAtMs) {
      const row = cycle.get({ place: getOwner(), domain, expiresAtMs })
      return row && toCycle(row)
    },
    cycles: () => allCycles.all({ place: getOwner() }).map(toCycle),
    saveCycle({ problem, ...stored }) {
      version += 1
      const problems = { problemKind: problem?.kind ?? null, problem: problem?.detail ?? null }
      keep.run(renewalCycleTable.params({ ...stored, ...problems, place: getOwner(), updatedAtMs: now() }))
    },
    listUnseen: () => unseen.all({ place: getOwner() }),
    listNotified: () => new Map(minDays.all({ place: getOwner() }).map((notice) => [toNoticeKey(notice), notice.days])),
    addNotice({ domain, expiresAtMs, days, notifiedAtMs }) {
      version += 1
      add.run(noticeTable.params({ place: getOwner(), domain, expiresAtMs, days, notifiedAtMs, seen: false }))
    },
    seeAll: () => void see.run({ place: getOwner() }),
    version: () => version,
    atomically: (work) => (database.inTransaction ? work() : database.transaction(work).immediate()),
  }
}

export function toNoticeKey({ domain, expiresAtMs }: { domain: string; expiresAtMs: number }): string {
  return `${domain} ${expiresAtMs}`
}

function toSettings(row: StoredRow): Settings {
  const { place: _, ...settings } = settingsTable.fromRow(row)
  return settings
}

function toCycle(row: StoredRow): RenewalCycle {
  const { place: _, updatedAtMs: __, problemKind, problem, ...cycle } = renewalCycleTable.fromRow(row)
  return { ...cycle, problem: problemKind === null || problem === null ? null : { kind: problemKind, detail: problem } }
}
