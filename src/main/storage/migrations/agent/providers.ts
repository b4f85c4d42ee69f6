import type { Migration } from '../../migrate.ts'

/** Metadata of provider keys, and model servers. The keys are stored only in the secret store. */
export const providers = {
  version: 9,
  up: `
  CREATE TABLE provider_keys (
    slot TEXT PRIMARY KEY, -- a family (a to e), or the id of a model server
    place TEXT NOT NULL CHECK (place IN ('keychain', 'file')),
    ends_with TEXT CHECK (length(ends_with) <= 4),
    set_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE model_servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    base_url TEXT NOT NULL UNIQUE,
    models TEXT NOT NULL, -- JSON, a list of names
    needs_key INTEGER NOT NULL CHECK (needs_key IN (0, 1)),
    read_at_ms INTEGER NOT NULL
  ) STRICT;
`,
} as const satisfies Migration
