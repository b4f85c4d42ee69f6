import type { Migration } from '../../migrate.ts'

/** On what an approval rests, so that it can be judged again, and given back, when it was not signed. */
export const intentBasis = {
  version: 5,
  up: `
  ALTER TABLE intents ADD COLUMN grant_id TEXT; -- was counted down for it
  ALTER TABLE intents ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0 CHECK (confirmed IN (0, 1)); -- where the window cannot draw
  CREATE INDEX intents_being_signed ON intents (grant_id) WHERE state = 'approved';
`,
} as const satisfies Migration
