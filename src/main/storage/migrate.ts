import { AppError } from '#shared/appError.ts'
import type { Database } from './sqlite/openDatabase.ts'

/** Migration of the schema. Released migrations never change. `version` counts from 1 without gaps. */
export type Migration = { readonly version: number; readonly up: string }

/**
 * Migrates the schema to the latest version, with one transaction per step.
 * @throws AppError `data/newer` if a newer Steward has written this file; the file is not changed
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
        // Checked again under the lock, because another process may have run this step.
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
