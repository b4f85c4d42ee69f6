import type { Migration } from '../migrate.ts'

export const uploads = {
  version: 8,
  up: `
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY CHECK (length(id) = 28),
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    place TEXT NOT NULL, -- where it goes: path, or what a link there leads to
    part TEXT NOT NULL, -- what came is kept there
    size INTEGER NOT NULL CHECK (size >= 0),
    received INTEGER NOT NULL CHECK (received BETWEEN 0 AND size),
    replaces INTEGER NOT NULL CHECK (replaces IN (0, 1)),
    if_version TEXT,
    sha256 TEXT,
    modified_at_ms INTEGER,
    complete INTEGER NOT NULL DEFAULT 0 CHECK (complete IN (0, 1)),
    touched_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX uploads_by_sandbox ON uploads (sandbox_id, complete);
  CREATE INDEX uploads_by_time ON uploads (touched_at_ms);
`,
} as const satisfies Migration
