import type { Migration } from '../../migrate.ts'

/** Basis of an approval, so that an unsigned one can be evaluated again and released. */
export const intentBasis = {
  version: 5,
  up: `
  ALTER TABLE intents ADD COLUMN grant_id TEXT; -- was counted down for it
  ALTER TABLE intents ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0 CHECK (confirmed IN (0, 1)); -- where the window cannot draw
  CREATE INDEX intents_being_signed ON intents (grant_id) WHERE state = 'approved';
`,
} as const satisfies Migration
