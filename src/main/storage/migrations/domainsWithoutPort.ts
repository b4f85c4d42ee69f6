import type { Migration } from '../migrate.ts'

/**
 * Makes the port optional. By default, a domain routes to the port exposed first. SQLite cannot drop a NOT NULL in
 * place.
 */
export const domainsWithoutPort = {
  version: 13,
  up: `
  CREATE TABLE new_sandbox_domains (
    domain TEXT PRIMARY KEY CHECK (domain = lower(domain) AND instr(domain, '.') > 1),
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    port INTEGER CHECK (port BETWEEN 1 AND 65535), -- NULL: whichever was exposed first
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO new_sandbox_domains SELECT domain, sandbox_id, port, created_at_ms FROM sandbox_domains;
  DROP TABLE sandbox_domains;
  ALTER TABLE new_sandbox_domains RENAME TO sandbox_domains;
  CREATE INDEX sandbox_domains_by_sandbox ON sandbox_domains (sandbox_id, domain);
`,
} as const satisfies Migration
