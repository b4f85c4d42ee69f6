import type { Migration } from '../migrate.ts'

/** Unverified domains of sandboxes. Several accounts may claim the same domain. */
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
