import type { Migration } from '../migrate.ts'

/** What happened in an account, its sandboxes included, also after they are gone. */
export const accountActivity = {
  version: 11,
  up: `
  CREATE TABLE account_activities (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    sandbox_id TEXT,
    description TEXT NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX account_activities_by_account ON account_activities (account_id, sequence);
`,
} as const satisfies Migration
