import type { Migration } from '../migrate.ts'

/** Domains of accounts, their cached data, and the test registry of this computer. */
export const domains = {
  version: 18,
  up: `
  CREATE TABLE domains (
    name TEXT PRIMARY KEY, -- in ASCII
    account_id TEXT NOT NULL REFERENCES accounts (id),
    status TEXT NOT NULL CHECK (status IN ('active', 'expired', 'pending')),
    registered_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    auto_renew INTEGER NOT NULL CHECK (auto_renew IN (0, 1)),
    privacy INTEGER NOT NULL CHECK (privacy IN (0, 1)),
    locked INTEGER NOT NULL CHECK (locked IN (0, 1)),
    nameservers TEXT NOT NULL, -- a JSON list
    read_at_ms INTEGER NOT NULL, -- when the registrar said so
    failed_at_ms INTEGER -- when it was asked last in vain, and has not answered since
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX domains_account ON domains (account_id, name);

  CREATE TABLE domain_zones (
    name TEXT PRIMARY KEY REFERENCES domains (name) ON DELETE CASCADE,
    records TEXT NOT NULL, -- a JSON list
    read_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE domain_orders (
    id TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL UNIQUE,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('registration', 'renewal')),
    years INTEGER NOT NULL,
    amount_cents INTEGER NOT NULL,
    expires_before_ms INTEGER, -- of a renewal: until when it was registered before
    state TEXT NOT NULL CHECK (state IN ('leased', 'asked', 'done', 'failed')),
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX domain_orders_account ON domain_orders (account_id, sequence);
  CREATE UNIQUE INDEX domain_orders_open ON domain_orders (domain) WHERE state IN ('leased', 'asked');

  CREATE TABLE registry_domains (
    name TEXT PRIMARY KEY,
    registered_at_ms INTEGER NOT NULL,
    active_at_ms INTEGER NOT NULL, -- pending until then
    expires_at_ms INTEGER NOT NULL,
    privacy INTEGER NOT NULL CHECK (privacy IN (0, 1)),
    locked INTEGER NOT NULL CHECK (locked IN (0, 1)),
    nameservers TEXT NOT NULL, -- a JSON list
    serial INTEGER NOT NULL -- of its zone; it only grows
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE registry_records (
    id TEXT PRIMARY KEY,
    domain TEXT NOT NULL REFERENCES registry_domains (name) ON DELETE CASCADE,
    type TEXT NOT NULL,
    host TEXT NOT NULL,
    value TEXT NOT NULL,
    ttl INTEGER NOT NULL,
    distance INTEGER,
    sequence INTEGER NOT NULL -- the order in which they were added
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX registry_records_domain ON registry_records (domain, sequence);
`,
} as const satisfies Migration
