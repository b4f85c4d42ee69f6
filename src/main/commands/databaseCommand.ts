import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { readEnvironment } from '#config/config.ts'
import { readDatabaseUrl } from '#config/databaseConfig.ts'
import { resolvePaths } from '#config/startOptions.ts'
import { lockData } from '#platform/files/dataLock.ts'
import type { ParsedCommand } from '#platform/program/commandLine.ts'
import { AppError } from '#shared/appError.ts'
import { migrate } from '#storage/migrate.ts'
import { serviceMigrations } from '#storage/migrations/serviceMigrations.ts'
import { copyDatabase } from '#storage/postgres/copyDatabase.ts'
import { migratePostgres } from '#storage/postgres/migratePostgres.ts'
import { openPostgresStore } from '#storage/postgres/postgresStore.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'

/**
 * Copies the SQLite database of a stopped service to an empty PostgreSQL database. The source stays as it is.
 * @throws AppError `command/usage`, `config/invalid`, `data/in-use`, `data/damaged`, `data/unusable`
 * @throws StoreUnavailableError
 */
export async function runDatabaseCommand(parsed: ParsedCommand): Promise<void> {
  const urlFile = parsed.value('to-url-file')
  if (parsed.positionals[0] !== 'copy' || urlFile === undefined) {
    throw new AppError('command/usage', 'Use `database copy --to-url-file FILE`.')
  }
  const url = readDatabaseUrl({ url_file: urlFile }, '`--to-url-file`')
  if (url === undefined) throw new AppError('command/usage', '`--to-url-file` must name a file.')
  const { dataFolder } = resolvePaths(parsed, readEnvironment())
  const file = join(dataFolder, 'service.sqlite')
  await access(file).catch((cause: unknown) => {
    throw createMissingError(file, cause)
  })
  const lock = await lockData({ folder: dataFolder, name: 'service.lock', program: 'The Steward service', waitMs: 0 })
  try {
    const source = openDatabase(file, { check: true })
    try {
      migrate(source, serviceMigrations)
      await (await openPostgresStore({ url })).close() // checks the server
      await migratePostgres(url)
      const copies = await copyDatabase(source, url)
      process.stdout.write(formatResult(parsed.has('json'), copies, urlFile))
    } finally {
      source.close()
    }
  } finally {
    await lock.release()
  }
}

function createMissingError(file: string, cause: unknown): AppError {
  return new AppError('command/usage', `There is no database ${file}. Check \`--data\`.`, { cause })
}

function formatResult(json: boolean, copies: Awaited<ReturnType<typeof copyDatabase>>, urlFile: string): string {
  const rows = copies.reduce((sum, copy) => sum + copy.rows, 0)
  if (json) return `${JSON.stringify({ event: 'database.copied', rows, tables: copies })}\n`
  return `Copied ${rows} rows of ${copies.length} tables, and compared all of them.\nSet \`service.database.url_file\` to ${urlFile} and start the service.\n`
}
