import type { Migration } from '../migrate.ts'

export const ports = {
  version: 5,
  up: `
  CREATE TABLE ports (
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    subdomain TEXT UNIQUE CHECK (length(subdomain) BETWEEN 1 AND 63),
    PRIMARY KEY (sandbox_id, port)
  ) STRICT;

  CREATE TABLE port_tokens (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
    sandbox_id TEXT NOT NULL,
    port INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    FOREIGN KEY (sandbox_id, port) REFERENCES ports (sandbox_id, port) ON DELETE CASCADE
  ) STRICT;
  CREATE INDEX port_tokens_by_port ON port_tokens (sandbox_id, port);
  CREATE INDEX port_tokens_by_expiry ON port_tokens (expires_at_ms);
`,
} as const satisfies Migration
