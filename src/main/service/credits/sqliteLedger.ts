import type { GroupCommit } from '#storage/sqlite/groupCommit.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import type { AnyParams, Statement } from '#storage/store.ts'
import type { CreditLedger } from './creditLedger.ts'
import { assertChangedRows, type LedgerStatements, type LedgerStore } from './ledgerStore.ts'

/** Ledger in SQLite. Reads every row that the work asks for, so keys are not needed. */
export function createSqliteLedger(options: {
  database: Database
  ledger: CreditLedger
  commits: GroupCommit
  removeStaleMeters: () => void
}): LedgerStore {
  const { database, ledger, commits } = options
  const cache = new WeakMap<Statement<AnyParams>, CompiledStatement>()
  const statements: LedgerStatements = {
    run(statement, expectedRows, ...params) {
      let compiled = cache.get(statement)
      if (!compiled) {
        compiled = database.prepare(statement.sqlite)
        cache.set(statement, compiled)
      }
      assertChangedRows(compiled.run(params[0] ?? {}).changes, expectedRows)
    },
  }
  return {
    change: (_keys, work, { isDurable = false } = {}) =>
      isDurable
        ? commits.commitDurable(() => work(ledger, statements))
        : commits.commit(() => work(ledger, statements)),
    read: async (_keys, work) => work(ledger),
    removeEndedHolds: () => commits.commit(() => ledger.forgetEnded()),
    removeStaleMeters: () => commits.commit(options.removeStaleMeters),
    get hasEnded() {
      return commits.hasEnded
    },
    close: () => commits.close(),
  }
}

type CompiledStatement = ReturnType<Database['prepare']>
