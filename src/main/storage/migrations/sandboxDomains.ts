import type { Migration } from '../migrate.ts'

export const sandboxDomains = {
  version: 7,
  up: `
  CREATE TABLE sandbox_domains (
    domain TEXT PRIMARY KEY CHECK (domain = lower(domain) AND instr(domain, '.') > 1),
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535),
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sandbox_domains_by_sandbox ON sandbox_domains (sandbox_id, domain);
`,
} as const satisfies Migration
