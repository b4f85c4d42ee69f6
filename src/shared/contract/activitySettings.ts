import { z } from 'zod'
import { defineRoute } from './route.ts'

const createDaysSchema = (message: string) => z.int(message).min(1, message).max(3650, message)
const wholeDays = 'must be a whole number of days from 1 to 3650'

/** Retention of the local log, in days, and whether terminals are recorded. */
export const ActivitySettings = z.object({
  /** Age in days at which entries are removed. The removal is recorded. Null: never */
  keep_entries_days: createDaysSchema(`${wholeDays}, or null`).nullable(),
  /** Whether the output of terminals is recorded from now on. */
  record_terminals: z.boolean(),
  /** Age in days at which recordings are deleted. */
  keep_recordings_days: createDaysSchema(wholeDays),
})
export type ActivitySettings = z.infer<typeof ActivitySettings>

/** Default settings: unlimited log, no recordings. */
export const defaultActivitySettings: ActivitySettings = {
  keep_entries_days: null,
  record_terminals: false,
  keep_recordings_days: 14,
}

export const getActivitySettings = defineRoute({
  operation: 'activitySettings',
  method: 'GET',
  path: '/local/activity/settings',
  summary: 'Get the settings of the activity log and of recordings',
  description: `By default, log entries do not expire, terminals are not recorded, and recordings are stored for ${defaultActivitySettings.keep_recordings_days} days.`,
  tag: 'Activity',
  auth: 'person',
  response: ActivitySettings,
})

export const changeActivitySettings = defineRoute({
  operation: 'activitySettingsChange',
  method: 'PATCH',
  path: '/local/activity/settings',
  summary: 'Change the settings of the activity log and of recordings',
  description:
    'Leaves absent fields unchanged. Removes entries and recordings that exceed a new age limit; entries stay if the log fails verification. Recording applies to terminals opened afterwards. Turning it off ends running recordings.',
  example: { keep_entries_days: 365, record_terminals: false },
  tag: 'Activity',
  auth: 'person',
  body: ActivitySettings.partial(),
  response: ActivitySettings,
})
