import type { ActivitySettings } from '#shared/contract/activitySettings.ts'
import { createEmitter, type Emitter } from '#shared/emitter.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { SettingsRepository } from './settingsRepository.ts'

/** Retention of the log and recordings, and whether terminals are recorded. */
export type ActivitySettingsStore = {
  read(): ActivitySettings
  /** Start of terminal recording in Unix milliseconds, or null if terminals are not recorded. */
  recordSinceMs(): number | null
  change(change: { [K in keyof ActivitySettings]?: ActivitySettings[K] | undefined }): ActivitySettings
  subscribe: Emitter<ActivitySettings>['subscribe']
}

export function createActivitySettings({
  settings,
  recordActivity,
  now,
}: {
  settings: SettingsRepository
  recordActivity: RecordActivity
  now: () => number
}): ActivitySettingsStore {
  const read = (): ActivitySettings => {
    const { recordSinceMs: _, ...current } = settings.read()
    return current
  }
  const changed = createEmitter<ActivitySettings>()
  return {
    read,
    recordSinceMs: () => settings.read().recordSinceMs,
    change(change) {
      const { recordSinceMs: since, ...before } = settings.read()
      const defined = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const after: ActivitySettings = { ...before, ...defined }
      const changes = describeChange(before, after)
      if (changes.length === 0) return after
      settings.write({ ...after, recordSinceMs: after.record_terminals ? (since ?? now()) : null })
      recordActivity({
        kind: 'log.settings',
        actor: { kind: 'person', name: 'You' },
        summary: `You changed the activity settings: ${changes.join('; ')}.`,
        detail: after,
      })
      changed.emit(after)
      return after
    },
    subscribe: changed.subscribe,
  }
}

function describeChange(before: ActivitySettings, after: ActivitySettings): string[] {
  const changes: string[] = []
  const { keep_entries_days: entries, record_terminals: record, keep_recordings_days: recordings } = after
  if (entries !== before.keep_entries_days) {
    changes.push(entries === null ? 'entries are kept forever' : `entries are kept for ${formatDays(entries)}`)
  }
  if (record !== before.record_terminals) changes.push(record ? 'terminals are recorded' : 'terminals are not recorded')
  if (recordings !== before.keep_recordings_days) changes.push(`recordings are kept for ${formatDays(recordings)}`)
  return changes
}

function formatDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}
