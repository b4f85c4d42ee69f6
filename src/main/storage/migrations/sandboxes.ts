import type { Migration } from '../migrate.ts'

export const sandboxes = {
  version: 2,
  up: `
  CREATE TABLE sandboxes (
    id TEXT PRIMARY KEY CHECK (length(id) = 32),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    vcpu INTEGER NOT NULL CHECK (vcpu > 0),
    memory_mb INTEGER NOT NULL CHECK (memory_mb > 0),
    disk_gb INTEGER NOT NULL CHECK (disk_gb > 0),
    region TEXT NOT NULL,
    runtime TEXT NOT NULL,
    enforced TEXT NOT NULL, -- JSON: which limits hold
    status TEXT NOT NULL CHECK (status IN ('provisioning', 'running', 'stopped', 'error')),
    status_reason TEXT,
    created_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER CHECK ((started_at_ms IS NOT NULL) = (status = 'running'))
  ) STRICT;
  CREATE INDEX sandboxes_by_account ON sandboxes (account_id, created_at_ms);

  CREATE TABLE terminal_links (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX terminal_links_by_sandbox ON terminal_links (sandbox_id);
  CREATE INDEX terminal_links_by_expiry ON terminal_links (expires_at_ms);
`,
} as const satisfies Migration
