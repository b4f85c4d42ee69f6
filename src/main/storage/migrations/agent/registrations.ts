import type { Migration } from '../../migrate.ts'

export const registrations = {
  version: 4,
  up: `
  CREATE TABLE registrations (
    id TEXT PRIMARY KEY,
    intent_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'sending', 'registered', 'refused', 'failed')),
    registration TEXT NOT NULL, -- JSON: Registration
    request TEXT, -- JSON: the signed body, so that the same bytes are sent again
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX registrations_by_time ON registrations (created_at_ms);
`,
} as const satisfies Migration
