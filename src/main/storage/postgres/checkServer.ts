import type { Client } from 'pg'
import { AppError } from '#shared/appError.ts'

const oldestVersion = 15
/** A pooler may give the same session twice by chance. */
const poolerRounds = 3

/**
 * Checks the version and encoding of a server, and that two connections have two sessions.
 * @throws AppError `data/unusable`
 */
export async function checkServer(createClient: () => Client): Promise<void> {
  const clients = [createClient(), createClient()] as const
  for (const client of clients) client.on('error', () => {}) // pending queries are rejected too
  const [client, other] = clients
  try {
    await Promise.all(clients.map((it) => it.connect()))
    const [settings] = await select<{ version: string; encoding: string }>(
      client,
      "SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding",
    )
    const version = Math.floor(Number(settings?.version) / 10_000)
    if (version < oldestVersion) {
      throw new AppError(
        'data/unusable',
        `The database is PostgreSQL ${version}. Steward needs ${oldestVersion} or newer.`,
      )
    }
    if (settings?.encoding !== 'UTF8') {
      throw new AppError('data/unusable', `The database has the encoding ${settings?.encoding}. Steward needs UTF8.`)
    }
    for (let round = 0; round < poolerRounds; round += 1) await assertOwnSessions(client, other)
  } finally {
    await Promise.allSettled(clients.map((it) => it.end()))
  }
}

/**
 * Advisory locks, prepared statements and notifications belong to a session. A transaction pooler moves a client to
 * another session after each transaction: while the second client holds one, the first gets a different one.
 */
async function assertOwnSessions(client: Client, other: Client): Promise<void> {
  const before = await getSession(client)
  await other.query('BEGIN')
  try {
    const otherSession = await getSession(other)
    const after = otherSession === before ? before : await getSession(client)
    if (otherSession !== before && after === before) return
  } finally {
    await other.query('ROLLBACK')
  }
  throw new AppError(
    'data/unusable',
    'The database is behind a transaction pooler. Connect to PostgreSQL directly, or through a session pooler.',
  )
}

async function getSession(client: Client): Promise<number | undefined> {
  const [row] = await select<{ pid: number }>(client, 'SELECT pg_backend_pid() AS pid')
  return row?.pid
}

async function select<T extends object>(client: Client, sql: string): Promise<T[]> {
  return (await client.query<T>(sql)).rows
}
