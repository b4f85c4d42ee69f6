import type { Migration } from '../migrate.ts'

export const snapshots = {
  version: 6,
  up: `
  ALTER TABLE sandboxes ADD COLUMN image TEXT; -- null: the base of the runtime
  ALTER TABLE sandboxes ADD COLUMN network TEXT NOT NULL DEFAULT 'none' CHECK (network IN ('none', 'internet', 'open'));
  ALTER TABLE sandboxes ADD COLUMN idle_minutes INTEGER CHECK (idle_minutes > 0);

  CREATE TABLE snapshots (
    id TEXT PRIMARY KEY CHECK (length(id) = 29),
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    size_bytes INTEGER NOT NULL CHECK (size_bytes >= 0),
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX snapshots_by_sandbox ON snapshots (sandbox_id, created_at_ms);
`,
} as const satisfies Migration
