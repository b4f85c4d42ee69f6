import type { Migration } from '../../migrate.ts'

/** Idempotency keys of intents: a repeated request returns the same intent. */
export const migrateIdempotency = {
  version: 6,
  up: `
  CREATE TABLE asked_once (
    asker TEXT NOT NULL, -- kind and id
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
    intent_id TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (asker, key)
  ) STRICT;
  CREATE INDEX asked_once_by_expiry ON asked_once (expires_at_ms);
`,
} as const satisfies Migration
