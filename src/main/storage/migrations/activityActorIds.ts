import type { Migration } from '../migrate.ts'

/** Ids of the API keys that acted: names are not unique, and a revoked key has none. */
export const activityActorIds = {
  version: 31,
  up: `
  ALTER TABLE sandbox_activities ADD COLUMN by_id TEXT;
  ALTER TABLE account_activities ADD COLUMN by_id TEXT;
`,
} as const satisfies Migration
