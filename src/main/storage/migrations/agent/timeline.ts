import type { Migration } from '../../migrate.ts'

/** Hash-chained activity log. Append-only: Steward neither changes nor removes rows. */
export const timeline = {
  version: 3,
  up: `
  CREATE TABLE timeline (
    sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    subject TEXT,
    summary TEXT NOT NULL,
    detail TEXT NOT NULL, -- JSON
    previous_hash TEXT NOT NULL CHECK (length(previous_hash) = 64),
    hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64)
  ) STRICT;
  CREATE INDEX timeline_by_kind ON timeline (kind, sequence);
  CREATE TRIGGER timeline_keeps_rows BEFORE DELETE ON timeline
    BEGIN SELECT raise(ABORT, 'the log only grows'); END;
  CREATE TRIGGER timeline_keeps_words BEFORE UPDATE ON timeline
    BEGIN SELECT raise(ABORT, 'the log only grows'); END;

  -- How far the log of each service was read.
  CREATE TABLE followed_services (
    account_id TEXT PRIMARY KEY, -- random, hence of one service
    sequence INTEGER NOT NULL
  ) STRICT;
`,
} as const satisfies Migration
