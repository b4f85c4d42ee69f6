import type { Migration } from '../../migrate.ts'

/** Retention of decided intents per requester, so that no requester evicts the intents of another. */
export const migrateRetention = {
  version: 7,
  up: `
  ALTER TABLE intents ADD COLUMN kept_with TEXT GENERATED ALWAYS AS (
    CASE
      WHEN asker_kind = 'person' THEN 'person'
      WHEN CASE WHEN json_valid(record) THEN record ->> '$.decision.by' END = 'person' THEN 'person'
      ELSE asker_kind || ' ' || asker_id
    END
  ) VIRTUAL;
  CREATE INDEX intents_decided ON intents (kept_with, created_at_ms) WHERE state NOT IN ('waiting', 'approved');
`,
} as const satisfies Migration
