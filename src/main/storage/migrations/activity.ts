import type { Migration } from '../migrate.ts'

export const activity = {
  version: 4,
  up: `
  CREATE TABLE sandbox_activities (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    subject TEXT, -- what can happen once only, such as the end of a terminal, is noted once
    description TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sandbox_activities_by_time ON sandbox_activities (sandbox_id, at_ms);
  CREATE UNIQUE INDEX sandbox_activities_once ON sandbox_activities (sandbox_id, type, subject)
    WHERE subject IS NOT NULL;

  CREATE TABLE sandbox_commands (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    exit_code INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sandbox_commands_by_time ON sandbox_commands (sandbox_id, at_ms);
`,
} as const satisfies Migration
