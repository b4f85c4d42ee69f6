import { z } from 'zod'
import { defineRoute } from './route.ts'

const days = (message: string) => z.int(message).min(1, message).max(3650, message)
const wholeDays = 'must be a whole number of days from 1 to 3650'

/** Retention of the local log, in days, and whether terminals are recorded. */
export const ActivitySettings = z.object({
  /** Age in days at which entries are removed, which is recorded. Null: never. */
  keep_entries_days: days(`${wholeDays}, or null`).nullable(),
  /** Whether what terminals show is recorded from now on. */
  record_terminals: z.boolean(),
  /** Older recordings are deleted. */
  keep_recordings_days: days(wholeDays),
})
export type ActivitySettings = z.infer<typeof ActivitySettings>

/** Settings until the user changes them: unlimited log, no recordings. */
export const defaultActivitySettings: ActivitySettings = {
  keep_entries_days: null,
  record_terminals: false,
  keep_recordings_days: 14,
}

export const getActivitySettings = defineRoute({
  operation: 'activitySettings',
  method: 'GET',
  path: '/local/activity/settings',
  summary: 'How long entries and recordings are kept, and whether terminals are recorded',
  tag: 'Activity',
  auth: 'person',
  response: ActivitySettings,
})

export const changeActivitySettings = defineRoute({
  operation: 'activitySettingsChange',
  method: 'PATCH',
  path: '/local/activity/settings',
  summary: 'Change them; entries and recordings that are certainly older are removed at once',
  tag: 'Activity',
  auth: 'person',
  body: ActivitySettings.partial(),
  response: ActivitySettings,
})
