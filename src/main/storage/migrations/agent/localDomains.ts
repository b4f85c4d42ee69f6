import type { Migration } from '../../migrate.ts'

/** Cached domains and DNS records by service, and plans that change them. */
export const localDomains = {
  version: 12,
  up: `
  CREATE TABLE domain_cache (
    service TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('list', 'domain', 'zone', 'pricing', 'search')),
    key TEXT NOT NULL,
    answer TEXT NOT NULL, -- JSON: what the service answered
    read_at_ms INTEGER NOT NULL,
    PRIMARY KEY (service, kind, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE dns_plans (
    id TEXT PRIMARY KEY,
    service TEXT NOT NULL,
    domain TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('ready', 'applying', 'applied', 'failed', 'moved')),
    plan TEXT NOT NULL, -- JSON: DnsPlan
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX dns_plans_by_domain ON dns_plans (service, domain, created_at_ms);
`,
} as const satisfies Migration
