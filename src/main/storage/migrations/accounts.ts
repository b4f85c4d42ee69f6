import type { Migration } from '../migrate.ts'

export const accounts = {
  version: 1,
  up: `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('owner', 'user')),
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX accounts_one_owner ON accounts (role) WHERE role = 'owner';

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32), -- SHA-256 of the key
    prefix TEXT NOT NULL,
    in_owner_file INTEGER NOT NULL CHECK (in_owner_file IN (0, 1)),
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER
  ) STRICT;
  CREATE INDEX api_keys_by_account ON api_keys (account_id, created_at_ms);
`,
} as const satisfies Migration
