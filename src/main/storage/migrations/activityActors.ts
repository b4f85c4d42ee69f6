import type { Migration } from '../migrate.ts'

/** Who did what happened. What was noted before is told as the service's own. */
export const activityActors = {
  version: 14,
  up: `
  ALTER TABLE sandbox_activities ADD COLUMN by_kind TEXT NOT NULL DEFAULT 'service';
  ALTER TABLE sandbox_activities ADD COLUMN by_name TEXT;
  ALTER TABLE account_activities ADD COLUMN by_kind TEXT NOT NULL DEFAULT 'service';
  ALTER TABLE account_activities ADD COLUMN by_name TEXT;
  ALTER TABLE account_activities ADD COLUMN command TEXT; -- of what a program ran
`,
} as const satisfies Migration
