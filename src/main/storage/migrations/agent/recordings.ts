import type { Migration } from '../../migrate.ts'

/** Retention of log and recordings, and an index of recordings. Their content is in separate files. */
export const recordings = {
  version: 18,
  up: `
  CREATE TABLE activity_settings (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    keep_entries_days INTEGER CHECK (keep_entries_days > 0),
    record_since_ms INTEGER, -- terminals that were opened since are recorded; null: none are
    keep_recordings_days INTEGER NOT NULL CHECK (keep_recordings_days > 0)
  ) STRICT;

  CREATE TABLE recordings (
    id TEXT PRIMARY KEY,
    terminal_id TEXT NOT NULL UNIQUE, -- a deleted one is not recorded again
    sandbox_id TEXT NOT NULL,
    sandbox_name TEXT NOT NULL,
    command TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'ended', 'cut', 'deleted')),
    missed INTEGER NOT NULL CHECK (missed IN (0, 1)),
    cursor INTEGER NOT NULL, -- of the terminal's output: what was read so far
    cols INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX recordings_by_time ON recordings (started_at_ms);
`,
} as const satisfies Migration
