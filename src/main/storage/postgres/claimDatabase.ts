import { setTimeout as wait } from 'node:timers/promises'
import { Client } from 'pg'
import { type Log, silentLog } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import { type Store, StoreUnavailableError } from '../store.ts'
import { toStoreError } from './toStoreError.ts'

/** Use of a database by one service. */
export type DatabaseClaim = {
  /** Whether this service uses the database alone. False after the session was lost, until it is claimed again. */
  readonly isValid: boolean
  close(): Promise<void>
}

type Options = {
  url: string
  log?: Log
  /** Interval of the check that the session still exists, and of attempts to claim again. Default: 2 s */
  intervalMs?: number
}

/** Advisory lock of the service that uses a database. Arbitrary, and the same in all versions. */
const lockKey = 5_283_018
const timeoutMs = 5_000

/**
 * Claims a database for one service, with an advisory lock of a session. After the session was lost, claims it again as
 * soon as no other service uses it.
 * @throws AppError `data/in-use` if another service uses it
 * @throws StoreUnavailableError
 */
export async function claimDatabase({ url, log = silentLog, intervalMs = 2_000 }: Options): Promise<DatabaseClaim> {
  const closing = new AbortController()
  const openSession = async (): Promise<Session> => {
    const client = new Client({
      connectionString: url,
      application_name: 'steward claim',
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      keepAlive: true,
    })
    const session: Session = { client, isOpen: true }
    for (const event of ['error', 'end'] as const) {
      client.on(event, () => {
        session.isOpen = false
      })
    }
    try {
      await client.connect()
      const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [lockKey])
      if (rows[0]?.locked) return session
      throw new AppError('data/in-use', 'Another service uses this database. Stop it first.')
    } catch (error) {
      await client.end().catch(() => {})
      throw toStoreError(error)
    }
  }
  let session = await openSession()

  const check = async (): Promise<void> => {
    if (session.isOpen) {
      await session.client.query('SELECT 1').catch(() => {
        session.isOpen = false
      })
      if (session.isOpen) return
      log.warn('the database session was lost')
      session.client.end().catch(() => {})
    }
    session = await openSession()
    log.info('the database is claimed again')
  }
  const watch = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await wait(intervalMs, undefined, { signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return
      await check().catch((error: unknown) => log.error('the database cannot be claimed', { error }))
    }
  }
  const watching = watch()

  return {
    get isValid() {
      return session.isOpen
    },
    async close() {
      closing.abort()
      await watching
      await session.client.end().catch(() => {})
    },
  }
}

type Session = { client: Client; isOpen: boolean }

/** Refuses all work while another service may use the database. */
export function requireClaim(store: Store, claim: Pick<DatabaseClaim, 'isValid'>): Store {
  const assertValid = (): void => {
    if (!claim.isValid) throw new StoreUnavailableError('The session with the database was lost.', {})
  }
  return {
    read: {
      async first(statement, ...params) {
        assertValid()
        return store.read.first(statement, ...params)
      },
      async all(statement, ...params) {
        assertValid()
        return store.read.all(statement, ...params)
      },
    },
    async write(work, options) {
      assertValid()
      return store.write(work, options)
    },
    close: () => store.close(),
  }
}
