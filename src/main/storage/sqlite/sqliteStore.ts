import type { Statement as CompiledStatement } from 'better-sqlite3'
import {
  type AnyParams,
  type RowStatement,
  type Statement,
  type Store,
  StoreUnavailableError,
  type Transaction,
  type WriteOptions,
} from '../store.ts'
import type { StoredRow } from '../table.ts'
import type { Database } from './openDatabase.ts'
import { toStoreError } from './toStoreError.ts'

export type SqliteStoreOptions = {
  /** Flushes everything committed before the call to disk. Default: durable transactions are refused */
  flush?: () => Promise<void>
}

/**
 * Store on a SQLite connection that other, synchronous code uses too. Close the connection after the store.
 *
 * The connection is shared safely because a transaction never spans an event loop turn. SQL is synchronous here, so the
 * promises that `work` awaits are resolved already, and all of `work` runs in the microtasks of one turn. Node.js runs
 * all microtasks between two callbacks of `setImmediate`. Each transaction has two callbacks in a row: the first begins
 * it, when no microtask is pending, and the second rolls it back if it is still open, because it awaited something else
 * than SQL. So no code but `work` runs while it is open:
 * - Synchronous statements, `database.transaction()` and the group commit see the state before or after it. They never
 *   write into it and never wait for its lock. The group commit collects work over a turn in memory only, and runs its
 *   own transaction in one callback.
 * - Reads of the store are statements between transactions, so a reader never sees half of one.
 * - Transactions run one after the other, in the order of the calls, so they cannot conflict.
 *
 * Synchronous statements in `work` belong to its transaction, so a slice can be converted before the slices it calls.
 */
export function createSqliteStore(database: Database, { flush }: SqliteStoreOptions = {}): Store {
  const cache = new WeakMap<Statement<AnyParams>, Compiled>()
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const rollback = database.prepare('ROLLBACK')
  let isClosed = false
  let pending = 0
  let onIdle: (() => void) | undefined

  const compile = (statement: Statement<AnyParams>): Compiled => {
    let compiled = cache.get(statement)
    if (!compiled) {
      compiled = database.prepare<unknown[], StoredRow>(statement.sqlite)
      cache.set(statement, compiled)
    }
    return compiled
  }
  const first = <T>(statement: RowStatement<AnyParams, T>, params: readonly unknown[]): T | undefined => {
    const row = compile(statement).get(...params)
    return row && statement.decode(row)
  }
  const all = <T>(statement: RowStatement<AnyParams, T>, params: readonly unknown[]): T[] =>
    compile(statement)
      .all(...params)
      .map((row) => statement.decode(row))

  const read = <T>(query: () => T): Promise<T> =>
    settle(() => {
      if (isClosed) throw createClosedError()
      if (database.inTransaction) throw new Error('Read through the transaction that is open.')
      return query()
    })

  const write = async <T>(
    work: (tx: Transaction) => Promise<T>,
    { signal, isDurable = false }: WriteOptions,
  ): Promise<T> => {
    if (isDurable && !flush) throw new Error('This store cannot flush.')
    const value = await new Promise<T>((resolve, reject) => {
      let state: 'waiting' | 'open' | 'ended' = 'waiting'
      let failure: { error: unknown } | undefined

      const fail = (error: unknown): void => {
        if (state === 'ended') return
        if (database.inTransaction) rollback.run()
        state = 'ended'
        reject(toStoreError(error))
      }
      /** Runs one statement. Its error ends the transaction, as in PostgreSQL. */
      const execute = <R>(run: () => R): Promise<R> => {
        const result = settle(() => {
          if (state !== 'open') throw new Error('The transaction has ended.')
          if (failure) throw failure.error
          try {
            signal?.throwIfAborted()
            return run()
          } catch (error) {
            failure = { error }
            throw error
          }
        })
        result.catch(() => {}) // also fails `write`, so `work` need not await it
        return result
      }
      const tx: Transaction = {
        first: (statement, ...params) => execute(() => first(statement, params)),
        all: (statement, ...params) => execute(() => all(statement, params)),
        run: (statement, ...params) => execute(() => compile(statement).run(...params).changes),
      }
      const finish = (value: T): void => {
        if (state !== 'open') return
        if (failure) throw failure.error
        signal?.throwIfAborted()
        commit.run()
        state = 'ended'
        resolve(value)
      }

      setImmediate(() => {
        try {
          signal?.throwIfAborted()
          begin.run()
          state = 'open'
          work(tx).then(finish).catch(fail)
        } catch (error) {
          fail(error)
        }
      })
      setImmediate(() => {
        if (state === 'open') fail(new Error('A transaction may await nothing but its own statements.'))
      })
    })
    if (isDurable) await flush?.().catch(toUnknownOutcome)
    return value
  }

  return {
    read: {
      first: (statement, ...params) => read(() => first(statement, params)),
      all: (statement, ...params) => read(() => all(statement, params)),
    },
    async write(work, options = {}) {
      if (isClosed) throw createClosedError()
      pending += 1
      try {
        return await write(work, options)
      } finally {
        pending -= 1
        if (pending === 0) onIdle?.()
      }
    },
    async close() {
      isClosed = true
      if (pending === 0) return
      await new Promise<void>((resolve) => {
        onIdle = resolve
      })
    },
  }
}

type Compiled = CompiledStatement<unknown[], StoredRow>

/** Calls the function and returns its result as a settled promise. */
function settle<T>(call: () => T): Promise<T> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.reject(toStoreError(error))
  }
}

/** Committed, but a power failure may still lose it. */
function toUnknownOutcome(cause: unknown): never {
  throw new StoreUnavailableError('The disk did not confirm the change.', { cause, isOutcomeUnknown: true })
}

function createClosedError(): StoreUnavailableError {
  return new StoreUnavailableError('The service is stopping.', {})
}
