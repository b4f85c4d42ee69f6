import type { Migration } from '../../migrate.ts'

/** Intents, grants and policy. Small values that are read as a whole are stored as JSON and validated when read. */
export const approvals = {
  version: 2,
  up: `
  CREATE TABLE intents (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'signed', 'denied', 'expired', 'failed')),
    asker_kind TEXT NOT NULL CHECK (asker_kind IN ('person', 'client', 'tool', 'agent')),
    asker_id TEXT NOT NULL,
    intent TEXT NOT NULL, -- JSON: what was asked, complete, as it is signed
    record TEXT NOT NULL, -- JSON: IntentRecord
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX intents_by_time ON intents (created_at_ms);
  CREATE INDEX intents_waiting ON intents (expires_at_ms) WHERE state = 'waiting';

  CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    asker TEXT NOT NULL, -- JSON
    host TEXT,
    scope TEXT, -- payee and network, or chain
    account_id TEXT NOT NULL,
    max_amount_micro_usd INTEGER CHECK (max_amount_micro_usd >= 0),
    times_left INTEGER CHECK (times_left >= 0),
    until_ms INTEGER,
    created_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE policy (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    stopped INTEGER NOT NULL CHECK (stopped IN (0, 1)),
    policy TEXT NOT NULL -- JSON
  ) STRICT;
`,
} as const satisfies Migration
