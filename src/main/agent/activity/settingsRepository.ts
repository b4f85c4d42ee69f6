import { type ActivitySettings, usualActivitySettings } from '../../../shared/contract/activitySettings.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type SettingsRepository = {
  read(): ActivitySettings
  write(settings: ActivitySettings): void
}

type Row = { entries: number | null; record: number; recordings: number }

export function settingsRepository(database: Database): SettingsRepository {
  const read = database.prepare<[], Row>(
    `SELECT keep_entries_days AS entries, record_terminals AS record, keep_recordings_days AS recordings
     FROM activity_settings`,
  )
  const write = database.prepare<[number | null, number, number]>(
    `INSERT INTO activity_settings (only, keep_entries_days, record_terminals, keep_recordings_days) VALUES (1, ?, ?, ?)
     ON CONFLICT (only) DO UPDATE SET keep_entries_days = excluded.keep_entries_days,
       record_terminals = excluded.record_terminals, keep_recordings_days = excluded.keep_recordings_days`,
  )
  return {
    read() {
      const row = read.get()
      if (!row) return usualActivitySettings
      return {
        keep_entries_days: row.entries,
        record_terminals: row.record === 1,
        keep_recordings_days: row.recordings,
      }
    },
    write: ({ keep_entries_days: entries, record_terminals: record, keep_recordings_days: recordings }) =>
      void write.run(entries, record ? 1 : 0, recordings),
  }
}
