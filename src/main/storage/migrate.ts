import { AppError } from '#shared/appError.ts'
import type { Database } from './openDatabase.ts'

/** One step of the schema. A released one never changes again: `version` counts from 1 without gaps. */
export type Migration = { readonly version: number; readonly up: string }

/**
 * Migrates the schema to the latest version, each step in its own transaction.
 * @throws AppError `data/newer` if a newer Steward has written this file, which is left unchanged
 */
export function migrate(database: Database, migrations: readonly Migration[]): void {
  const latest = migrations.at(-1)?.version ?? 0
  const present = readSchemaVersion(database)
  if (present > latest) {
    throw new AppError(
      'data/newer',
      `${database.name} was written by a newer Steward (schema ${present}; this one knows up to ${latest}).`,
    )
  }
  for (const { version, up } of migrations) {
    database
      .transaction(() => {
        // Read again under the lock: another process may have run this step.
        if (readSchemaVersion(database) >= version) return
        database.exec(up)
        database.pragma(`user_version = ${version}`)
      })
      .immediate()
  }
}

export function readSchemaVersion(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }))
}
