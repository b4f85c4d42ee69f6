import SqliteDatabase from 'better-sqlite3'
import { migrate } from '#storage/migrate.ts'
import { accounts } from '#storage/migrations/accounts.ts'
import { creditDays } from '#storage/migrations/creditDays.ts'
import { credits } from '#storage/migrations/credits.ts'
import { runningMeters } from '#storage/migrations/runningMeters.ts'
import { sandboxes } from '#storage/migrations/sandboxes.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { Random } from './random.ts'
import type { Life, SimulatedWorld } from './simulatedWorld.ts'

/**
 * A bug that is planted on purpose, by changing the text of a statement or of the schema, or by changing the behavior
 * of the disk.
 */
export type Planted = { sql?: (text: string) => string; flushesNothing?: boolean; ignoresFailedFlushes?: boolean }

/** Thrown at the statement before which the process is killed. */
export class Crash extends Error {}

/** Real SQLite over a disk that may be full, lose unflushed data, or kill the process between any two statements. */
export type SimulatedDisk = {
  /** Opens the file in its current state for this process. */
  open(life: Life): Database
  flush(life: Life): Promise<void>
  /** Returns a read-only view of the newest commit, for checks. Its statements are not counted and do not fail. */
  inspect(): Database
  /** Ends the current process. On a power cut, the disk reverts to some commit between the last flush and now. */
  crash(kind: 'process' | 'power'): void
  /** Returns the number of commits, and how many of them are durable. */
  commits(): { made: number; stored: number }
  /** While set, writes fail as on a full disk. */
  isFull: boolean
}

export type DiskFaults = {
  /** Numbers of the statements after which the process is killed, counted over the whole history. */
  crashesAt: ReadonlySet<number>
  failingFlushes: number
  onCrash: (kind: 'process' | 'power') => void
  onCommit: (commits: number) => void
}

/**
 * A ledger that is empty between two histories, and its prepared statements, which take longer to prepare than to run.
 */
type Bench = { database: SqliteDatabase.Database; prepare(text: string): SqliteDatabase.Statement }

const benches = new Map<Planted['sql'], Bench>()

function benchFor({ sql }: Planted): Bench {
  const existing = benches.get(sql)
  if (existing) return existing
  const database = new SqliteDatabase(':memory:')
  database.pragma('foreign_keys = ON')
  const ofCredits = [credits, creditDays, runningMeters].map((value) => ({ ...value, up: sql?.(value.up) ?? value.up }))
  migrate(database, [accounts, sandboxes, ...ofCredits])
  const statements = new Map<string, SqliteDatabase.Statement>()
  const bench: Bench = {
    database,
    prepare(text) {
      const statement = statements.get(text) ?? database.prepare(sql?.(text) ?? text)
      statements.set(text, statement)
      return statement
    },
  }
  benches.set(sql, bench)
  return bench
}

export function createSimulatedDisk(options: {
  random: Random
  world: SimulatedWorld
  faults: DiskFaults
  planted: Planted
}): SimulatedDisk {
  const { random, world, faults, planted } = options
  const bench = benchFor(planted)
  const { database } = bench
  /**
   * Each commit of the ledger is a savepoint inside one transaction that never ends. A power cut can therefore roll
   * back to any savepoint, and the next history starts from none.
   */
  if (database.inTransaction) database.exec('ROLLBACK')
  database.exec('BEGIN; SAVEPOINT commit_1')
  let commitCount = 1
  let durableCount = 1
  let statements = 0
  let hasDropped = false

  const end = (kind: 'process' | 'power', life: Life): void => {
    if (life.hasEnded) return
    life.hasEnded = true
    faults.onCrash(kind)
  }
  const step = (life: Life): void => {
    if (life.hasEnded) throw new Crash()
    statements += 1
    if (!faults.crashesAt.has(statements)) return
    end(random.chance(0.5) ? 'process' : 'power', life)
    throw new Crash()
  }
  const write = (life: Life): void => {
    step(life)
    if (disk.isFull && random.chance(0.5)) throw new Error('SQLITE_FULL: database or disk is full')
  }

  const disk: SimulatedDisk = {
    isFull: false,
    open(life) {
      const opened = {
        prepare(text: string) {
          const statement = bench.prepare(text)
          const count = statement.readonly ? step : write
          const countCommits =
            <V>(run: (...values: unknown[]) => V) =>
            (...values: unknown[]): V => {
              count(life)
              return run(...values)
            }
          return {
            run: countCommits((...values) => statement.run(...values)),
            get: countCommits((...values) => statement.get(...values)),
            all: countCommits((...values) => statement.all(...values)),
          }
        },
        transaction: (work: () => unknown) => ({
          immediate() {
            step(life)
            const value = database
              .transaction(() => {
                const done = work()
                write(life)
                return done
              })
              .immediate()
            commitCount += 1
            bench.prepare(`SAVEPOINT commit_${commitCount}`).run()
            faults.onCommit(commitCount)
            step(life)
            return value
          },
        }),
      }
      return opened as unknown as Database // has all members that the ledger uses
    },
    inspect: () => bench as unknown as Database, // has all members that the ledger uses
    async flush(life) {
      const upTo = commitCount
      await world.pause(random.whole(0, 8), life)
      if (planted.flushesNothing || hasDropped) return
      if (faults.failingFlushes > 0 && random.chance(0.3)) {
        faults.failingFlushes -= 1
        hasDropped = true // unwritten data remains unwritten, regardless of later flushes
        if (planted.ignoresFailedFlushes) return
        throw new Error('EIO: i/o error, fdatasync')
      }
      durableCount = Math.max(durableCount, upTo)
    },
    crash(kind) {
      if (kind === 'process') return
      hasDropped = false
      commitCount = random.whole(durableCount, commitCount)
      durableCount = commitCount
      bench.prepare(`ROLLBACK TO commit_${commitCount}`).run()
    },
    commits: () => ({ made: commitCount, stored: durableCount }),
  }
  return disk
}
