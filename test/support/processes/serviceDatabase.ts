import { atEndOfFile } from '../runner/endOfFile.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let server: Promise<TestPostgres> | undefined

/**
 * Creates an empty database for a service, on a server that runs until the end of the test file.
 * @returns its URL, or undefined for SQLite. `STEWARD_TEST_ENGINE=postgres` selects PostgreSQL.
 */
export async function createServiceDatabase(): Promise<string | undefined> {
  if (process.env.STEWARD_TEST_ENGINE !== 'postgres') return undefined
  if (!server) {
    server = startPostgres()
    const { stop } = await server
    atEndOfFile(stop)
  }
  return (await server).createDatabase()
}
