import type { Migration } from '../migrate.ts'

/** Activity log of an account. Entries of sandboxes outlive the sandbox. */
export const accountActivity = {
  version: 11,
  up: `
  CREATE TABLE account_activities (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    sequence INTEGER NOT NULL, -- of the account, from 1, without gaps
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    sandbox_id TEXT,   -- what is told stays when the sandbox is gone
    sandbox_name TEXT, -- as it was called then
    description TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, sequence)
  ) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
