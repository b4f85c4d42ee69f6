import type { Migration } from '../../migrate.ts'

/** Uses of grants reserved for intents that are neither signed nor released. */
export const grantReservations = {
  version: 8,
  up: `
  CREATE TABLE grant_reservations (
    intent_id TEXT PRIMARY KEY,
    grant_id TEXT NOT NULL
  ) STRICT;
  CREATE INDEX grant_reservations_by_grant ON grant_reservations (grant_id);
  INSERT INTO grant_reservations
    SELECT id, grant_id FROM intents WHERE state = 'approved' AND grant_id IS NOT NULL;
  DROP INDEX intents_being_signed;
  ALTER TABLE intents DROP COLUMN grant_id;
`,
} as const satisfies Migration
