import type { Migration } from '../migrate.ts'

/** What an activity belongs to for the agent that had it done, what it is about, and what it took from the credits. */
export const activityTasks = {
  version: 21,
  up: `
  ALTER TABLE account_activities ADD COLUMN task TEXT;
  ALTER TABLE account_activities ADD COLUMN domain TEXT;
  ALTER TABLE account_activities ADD COLUMN terminal_id TEXT;
  ALTER TABLE account_activities ADD COLUMN charged_micro_usd INTEGER;
`,
} as const satisfies Migration
