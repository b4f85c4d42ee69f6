import type { Migration } from '../migrate.ts'

/** Actor of each activity. Earlier entries get the actor `service`. */
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
