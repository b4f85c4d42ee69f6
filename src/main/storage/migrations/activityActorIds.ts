import type { Migration } from '../migrate.ts'

/** Ids of the API keys that acted. Names are not unique, and a revoked key has no name. */
export const activityActorIds = {
  version: 31,
  up: `
  ALTER TABLE sandbox_activities ADD COLUMN by_id TEXT;
  ALTER TABLE account_activities ADD COLUMN by_id TEXT;
`,
} as const satisfies Migration
