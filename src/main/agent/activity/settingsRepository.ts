import { type ActivitySettings, usualActivitySettings } from '../../../shared/contract/activitySettings.ts'
import type { Database } from '../../storage/openDatabase.ts'

export type SettingsRepository = {
  read(): ActivitySettings & { recordSinceMs: number | null }
  /** @param recordSinceMs null while terminals are not recorded */
  write(settings: Omit<ActivitySettings, 'record_terminals'> & { recordSinceMs: number | null }): void
}

type Row = { entries: number | null; since: number | null; recordings: number }

export function settingsRepository(database: Database): SettingsRepository {
  const read = database.prepare<[], Row>(
    `SELECT keep_entries_days AS entries, record_since_ms AS since, keep_recordings_days AS recordings
     FROM activity_settings`,
  )
  const write = database.prepare<[number | null, number | null, number]>(
    `INSERT INTO activity_settings (only, keep_entries_days, record_since_ms, keep_recordings_days) VALUES (1, ?, ?, ?)
     ON CONFLICT (only) DO UPDATE SET keep_entries_days = excluded.keep_entries_days,
       record_since_ms = excluded.record_since_ms, keep_recordings_days = excluded.keep_recordings_days`,
  )
  return {
    read() {
      const row = read.get()
      if (!row) return { ...usualActivitySettings, recordSinceMs: null }
      return {
        keep_entries_days: row.entries,
        record_terminals: row.since !== null,
        keep_recordings_days: row.recordings,
        recordSinceMs: row.since,
      }
    },
    write: ({ keep_entries_days: entries, recordSinceMs, keep_recordings_days: recordings }) =>
      void write.run(entries, recordSinceMs, recordings),
  }
}
