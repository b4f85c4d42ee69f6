import type { ActivitySettings } from '#shared/contract/activitySettings.ts'
import { type Emitter, emitter } from '#shared/emitter.ts'
import type { Note } from '../base/note.ts'
import type { SettingsRepository } from './settingsRepository.ts'

/** How long the log and recordings are kept, and whether terminals are recorded. */
export type ActivitySettingsStore = {
  read(): ActivitySettings
  /** Terminals that were opened since are recorded; null: none are. */
  recordSinceMs(): number | null
  change(wanted: { [K in keyof ActivitySettings]?: ActivitySettings[K] | undefined }): ActivitySettings
  subscribe: Emitter<ActivitySettings>['subscribe']
}

export function activitySettings({
  settings,
  note,
  now,
}: {
  settings: SettingsRepository
  note: Note
  now: () => number
}): ActivitySettingsStore {
  const read = (): ActivitySettings => {
    const { recordSinceMs: _, ...told } = settings.read()
    return told
  }
  const changed = emitter<ActivitySettings>()
  return {
    read,
    recordSinceMs: () => settings.read().recordSinceMs,
    change(wanted) {
      const { recordSinceMs: since, ...before } = settings.read()
      const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
      const after: ActivitySettings = { ...before, ...given }
      const words = changeWords(before, after)
      if (words.length === 0) return after
      settings.write({ ...after, recordSinceMs: after.record_terminals ? (since ?? now()) : null })
      note({
        kind: 'log.settings',
        actor: { kind: 'person', name: 'You' },
        summary: `You changed what Activity keeps: ${words.join('; ')}.`,
        detail: after,
      })
      changed.emit(after)
      return after
    },
    subscribe: changed.subscribe,
  }
}

function changeWords(before: ActivitySettings, after: ActivitySettings): string[] {
  const words: string[] = []
  const { keep_entries_days: entries, record_terminals: record, keep_recordings_days: recordings } = after
  if (entries !== before.keep_entries_days) {
    words.push(entries === null ? 'entries for ever' : `entries for ${daysText(entries)}`)
  }
  if (record !== before.record_terminals) words.push(record ? 'terminals are recorded' : 'terminals are not recorded')
  if (recordings !== before.keep_recordings_days) words.push(`recordings for ${daysText(recordings)}`)
  return words
}

function daysText(days: number): string {
  return days === 1 ? '1 day' : `${days} days`
}
