import type { Migration } from '../migrate.ts'

/** Domains to be pointed to a sandbox that are not verified yet. Several accounts may claim the same one. */
export const domainClaims = {
  version: 20,
  up: `
  CREATE TABLE sandbox_domain_claims (
    domain TEXT NOT NULL,
    sandbox_id TEXT NOT NULL REFERENCES sandboxes (id) ON DELETE CASCADE,
    port INTEGER,
    token TEXT NOT NULL, -- what its DNS record has to say; public
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (domain, sandbox_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sandbox_domain_claims_sandbox ON sandbox_domain_claims (sandbox_id, domain);
`,
} as const satisfies Migration
