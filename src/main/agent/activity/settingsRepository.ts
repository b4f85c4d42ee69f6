import { type ActivitySettings, defaultActivitySettings } from '#shared/contract/activitySettings.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import { defineTable, nullable, number, type Params, type RowOf, type StoredRow } from '#storage/table.ts'

const settings = defineTable('activity_settings', {
  /** Key of the single row. */
  only: number<1>(),
  keep_entries_days: nullable(number()),
  /** Start of terminal recording, or null if terminals are not recorded. */
  recordSinceMs: nullable(number()),
  keep_recordings_days: number(),
})
type SettingsRow = RowOf<typeof settings>

export type SettingsRepository = {
  read(): ActivitySettings & Pick<SettingsRow, 'recordSinceMs'>
  write(settings: Omit<SettingsRow, 'only'>): void
}

export function createSettingsRepository(database: Database): SettingsRepository {
  const read = database.prepare<[], StoredRow>(`SELECT ${settings.selection()} FROM activity_settings`)
  const write = database.prepare<[Params<keyof SettingsRow>]>(settings.upsert(['only']))
  return {
    read() {
      const row = read.get()
      if (!row) return { ...defaultActivitySettings, recordSinceMs: null }
      const { only: _, ...stored } = settings.fromRow(row)
      return { ...stored, record_terminals: stored.recordSinceMs !== null }
    },
    write: ({ keep_entries_days, recordSinceMs, keep_recordings_days }) =>
      void write.run(settings.params({ only: 1, keep_entries_days, recordSinceMs, keep_recordings_days })),
  }
}
