import type { Migration } from '../migrate.ts'

/** Task, subject and cost of each activity. */
export const activityTasks = {
  version: 21,
  up: `
  ALTER TABLE account_activities ADD COLUMN task TEXT;
  ALTER TABLE account_activities ADD COLUMN domain TEXT;
  ALTER TABLE account_activities ADD COLUMN terminal_id TEXT;
  ALTER TABLE account_activities ADD COLUMN charged_micro_usd INTEGER;
`,
} as const satisfies Migration
