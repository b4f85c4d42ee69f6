import type { Migration } from '../migrate.ts'

export const idempotency = {
  version: 3,
  up: `
  CREATE TABLE idempotent_answers (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32),
    status INTEGER NOT NULL CHECK (status BETWEEN 200 AND 299),
    body TEXT NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
  ) STRICT;
  CREATE INDEX idempotent_answers_by_expiry ON idempotent_answers (expires_at_ms);
`,
} as const satisfies Migration
