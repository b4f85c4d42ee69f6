import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { Client, Pool, type PoolClient, type PoolConfig, type QueryResult } from 'pg'
import { type Log, silentLog } from '#platform/logging/log.ts'
import {
  type AnyParams,
  type Statement,
  type Store,
  StoreUnavailableError,
  type Transaction,
  type WriteOptions,
} from '../store.ts'
import type { StoredRow, StoredValue } from '../table.ts'
import { checkServer } from './checkServer.ts'
import { getValueParser } from './getValueParser.ts'
import { type PositionalStatement, toPositional } from './toPositional.ts'
import { isConflict, isConnectionError, toStoreError } from './toStoreError.ts'

export type PostgresOptions = {
  /** `postgresql://…`, with `sslmode=verify-full` and `sslrootcert=FILE` where the operator asks for TLS. */
  url: string
  log?: Log
  /** Connections of this process. Default: 10 */
  maxConnections?: number
  /** Time limit of a statement, including its wait for locks. Default: 10 s */
  statementTimeoutMs?: number
  /** Time limit for opening a connection, and for waiting for a free one. Default: 5 s */
  connectTimeoutMs?: number
  /** Attempts of a transaction that conflicts with others. Default: 20 */
  maxAttempts?: number
  /** Time that `close` waits for work under way. Default: 5 s */
  closeTimeoutMs?: number
  /** Called before each repetition after a conflict. */
  onRetry?: (attempt: number) => void
}

/** A transaction that runs no statement for this long is ended by the server. */
const idleInTransactionMs = 10_000
const maxBackoffMs = 100

/**
 * Opens a store on PostgreSQL 15 or newer. Transactions are serializable by default and repeated after a conflict. A server that
 * dies or stops responding gives errors, never ends this process, and is used again once it is back.
 * @throws AppError `data/unusable` if the server is too old, does not use UTF-8, or is behind a transaction pooler
 * @throws StoreUnavailableError
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, log = silentLog, maxConnections = 10, maxAttempts = 20 } = options
  const { statementTimeoutMs = 10_000, connectTimeoutMs = 5_000, closeTimeoutMs = 5_000, onRetry } = options
  const sockets = new Set<Socket>()
  const config: PoolConfig = {
    connectionString: url,
    application_name: 'steward',
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // For a server that stopped responding. The server applies its own limit first.
    query_timeout: statementTimeoutMs * 1.5,
    types: { getTypeParser: getValueParser },
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      return socket
    },
  }
  const settings = [
    `SET statement_timeout = ${statementTimeoutMs}`,
    `SET idle_in_transaction_session_timeout = ${idleInTransactionMs}`,
    // Ends a statement whose client has gone, so that it does not keep its locks.
    'SET client_connection_check_interval = 1000',
  ].join('; ')
  const pool = new Pool({
    ...config,
    async onConnect(client) {
      // An error event without a listener would end this process. The pool listens only while a connection is idle.
      client.on('error', () => {})
      await client.query(settings)
    },
  })
  pool.on('error', (error) => log.warn('a database connection was lost', { error }))

  try {
    await checkServer(() => new Client(config))
  } catch (error) {
    await pool.end()
    for (const socket of sockets) socket.destroy()
    throw toStoreError(error)
  }

  const positional = new WeakMap<Statement<AnyParams>, PositionalStatement & { name: string }>()
  let statements = 0
  const active = new Set<Promise<void>>()
  let isClosed = false

  const compile = (statement: Statement<AnyParams>): PositionalStatement & { name: string } => {
    let compiled = positional.get(statement)
    if (!compiled) {
      statements += 1
      compiled = { ...toPositional(statement.postgres), name: `steward_${statements}` }
      positional.set(statement, compiled)
    }
    return compiled
  }

  const query = (client: PoolClient, statement: Statement<AnyParams>, params: AnyParams = {}): Promise<Result> => {
    const { name, text, names } = compile(statement)
    const values = names.map((it) => toValue(params as Readonly<Record<string, StoredValue>>, it))
    return client.query<StoredRow>({ name, text, values })
  }

  /** Runs one call of the store, which `close` waits for. */
  const track = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new StoreUnavailableError('The service is stopping.', {})
    const result = call()
    const settled = result.then(
      () => {},
      () => {},
    )
    active.add(settled)
    try {
      return await result
    } finally {
      active.delete(settled)
    }
  }

  /** Repeats a read once, on another connection, if its own was lost. Reads change nothing. */
  const read = async (statement: Statement<AnyParams>, params: AnyParams | undefined): Promise<StoredRow[]> => {
    for (let isRepeated = false; ; isRepeated = true) {
      let client: PoolClient | undefined
      try {
        client = await pool.connect()
        const { rows } = await query(client, statement, params)
        client.release()
        return rows
      } catch (error) {
        client?.release(isBroken(error))
        if (isRepeated || !(isConflict(error) || (client && isConnectionError(error)))) throw toStoreError(error)
      }
    }
  }

  const attempt = async <T>(
    work: (tx: Transaction) => Promise<T>,
    { signal, isolation = 'serializable' }: WriteOptions,
  ): Promise<Attempt<T>> => {
    signal?.throwIfAborted()
    const client = await pool.connect()
    const { processID } = client as unknown as { processID: number | null } // not in the types of `pg`
    let last: Promise<unknown> = Promise.resolve()
    let failure: { error: unknown } | undefined
    let phase: 'begin' | 'open' | 'commit' | 'ended' = 'begin'
    let interrupt: (reason: unknown) => void = () => {}
    const interrupted = new Promise<never>((_, reject) => {
      interrupt = (error) => {
        failure ??= { error }
        reject(error)
      }
    })
    interrupted.catch(() => {}) // the races below handle it
    const onAbort = (): void => {
      if (phase !== 'commit') interrupt(signal?.reason)
    }
    const onLost = (error: Error): void => interrupt(error)

    /** Runs statements in the order of the calls. After an error, the server refuses the rest of the transaction. */
    const execute = (statement: Statement<AnyParams>, params: AnyParams | undefined): Promise<Result> => {
      const result = last.then(async () => {
        if (failure) throw failure.error
        if (phase !== 'open') throw new Error('The transaction has ended.')
        try {
          return await query(client, statement, params)
        } catch (error) {
          failure ??= { error }
          throw error
        }
      })
      last = result.catch(() => {})
      return result.catch((error: unknown) => {
        throw toStoreError(error)
      })
    }
    const decode = <R>(call: () => R): R => {
      try {
        return call()
      } catch (error) {
        failure ??= { error }
        throw error
      }
    }
    const tx: Transaction = {
      first: (statement, ...[params]) =>
        handle(execute(statement, params).then(({ rows }) => decode(() => rows[0] && statement.decode(rows[0])))),
      all: (statement, ...[params]) =>
        handle(execute(statement, params).then(({ rows }) => decode(() => rows.map((row) => statement.decode(row))))),
      run: (statement, ...[params]) => handle(execute(statement, params).then(({ rowCount }) => rowCount ?? 0)),
    }

    signal?.addEventListener('abort', onAbort)
    client.on('error', onLost)
    try {
      await Promise.race([client.query(`BEGIN ISOLATION LEVEL ${isolation}`), interrupted])
      phase = 'open'
      const value = await Promise.race([work(tx), interrupted])
      await last
      if (failure) throw failure.error
      signal?.throwIfAborted()
      phase = 'commit'
      await client.query('COMMIT')
      phase = 'ended'
      client.release()
      return { value }
    } catch (caught) {
      const error = failure ? failure.error : caught
      const lostAt = phase
      phase = 'ended'
      if (signal?.aborted && lostAt !== 'commit') {
        abandon(client, processID)
        throw signal.reason
      }
      if (isBroken(error)) {
        client.release(true)
      } else {
        await last
        await rollBack(client)
      }
      if (isConflict(error) || (lostAt === 'begin' && isConnectionError(error))) return { conflict: error }
      if (lostAt === 'commit' && isBroken(error)) {
        throw createUnknownOutcomeError(error)
      }
      throw toStoreError(error)
    } finally {
      signal?.removeEventListener('abort', onAbort)
      client.off('error', onLost)
    }
  }

  /** Ends a session whose statement may still run: its locks must not outlive the transaction. */
  const abandon = (client: PoolClient, processID: number | null): void => {
    client.release(true)
    if (processID === null) return
    pool
      .query('SELECT pg_terminate_backend($1)', [processID])
      .catch((error: unknown) => log.warn('a database session could not be ended', { error }))
  }

  const write = async <T>(work: (tx: Transaction) => Promise<T>, options: WriteOptions): Promise<T> => {
    for (let attempts = 1; ; attempts += 1) {
      const result = await attempt(work, options).catch((error: unknown) => {
        throw toStoreError(error)
      })
      if ('value' in result) return result.value
      if (attempts >= maxAttempts) {
        throw new StoreUnavailableError('The database is busy: other changes of the same data came first.', {
          cause: result.conflict,
        })
      }
      onRetry?.(attempts)
      // Full jitter: of several transactions in conflict, one is alone with a growing probability.
      await wait(Math.random() * Math.min(2 ** attempts, maxBackoffMs))
    }
  }

  return {
    read: {
      first: (statement, ...[params]) =>
        track(async () => {
          const [row] = await read(statement, params)
          return row && statement.decode(row)
        }),
      all: (statement, ...[params]) =>
        track(async () => (await read(statement, params)).map((row) => statement.decode(row))),
    },
    write: (work, options = {}) => track(() => write(work, options)),
    async close() {
      if (isClosed) return
      isClosed = true
      const abandonAll = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, closeTimeoutMs)
      await Promise.all(active)
      await pool.end()
      clearTimeout(abandonAll)
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Result = QueryResult<StoredRow>
type Attempt<T> = { value: T } | { conflict: unknown }

/** Prevents an unhandled rejection if `work` does not await a statement. The error of the statement fails `write`. */
function handle<T>(result: Promise<T>): Promise<T> {
  result.catch(() => {})
  return result
}

function createUnknownOutcomeError(cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError('The database did not confirm the change.', { cause, isOutcomeUnknown: true })
}

/** Whether the connection cannot be used again, because it is lost or a response is missing. */
function isBroken(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true
  return isConnectionError(error) || isReadOnly(error)
}

/** A server that became a standby refuses changes. A new connection may lead to its successor. */
function isReadOnly(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25006'
}

async function rollBack(client: PoolClient): Promise<void> {
  try {
    await client.query('ROLLBACK')
    client.release()
  } catch {
    client.release(true)
  }
}

function toValue(params: Readonly<Record<string, StoredValue>>, name: string): StoredValue {
  const value = params[name]
  if (value === undefined) throw new TypeError(`Missing parameter @${name}.`)
  return value
}
