import type { Migration } from '../migrate.ts'

/** Registrar of domains, orders and quotes. Domains of sandboxes must be verified before they are routed. */
export const registrars = {
  version: 19,
  up: `
  DROP TABLE domain_zones; -- only what was read last

  CREATE TABLE registrar_domains (
    registrar TEXT NOT NULL, -- local, namesilo, name.com
    name TEXT NOT NULL, -- in ASCII
    account_id TEXT NOT NULL REFERENCES accounts (id),
    status TEXT NOT NULL CHECK (status IN ('active', 'expired', 'pending')),
    registered_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    auto_renew INTEGER NOT NULL CHECK (auto_renew IN (0, 1)),
    privacy INTEGER NOT NULL CHECK (privacy IN (0, 1)),
    locked INTEGER NOT NULL CHECK (locked IN (0, 1)),
    nameservers TEXT NOT NULL, -- a JSON list
    read_at_ms INTEGER NOT NULL, -- when the registrar said so
    failed_at_ms INTEGER, -- when it was asked last in vain, and has not answered since
    PRIMARY KEY (registrar, name)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO registrar_domains SELECT 'local', name, account_id, status, registered_at_ms, expires_at_ms, auto_renew,
    privacy, locked, nameservers, read_at_ms, failed_at_ms FROM domains;
  DROP TABLE domains;
  ALTER TABLE registrar_domains RENAME TO domains;
  CREATE INDEX domains_account ON domains (account_id, registrar, name);

  CREATE TABLE domain_zones (
    registrar TEXT NOT NULL,
    name TEXT NOT NULL,
    records TEXT NOT NULL, -- a JSON list
    read_at_ms INTEGER NOT NULL,
    PRIMARY KEY (registrar, name),
    FOREIGN KEY (registrar, name) REFERENCES domains (registrar, name) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE domain_orders ADD COLUMN registrar TEXT NOT NULL DEFAULT 'local';
  DROP INDEX domain_orders_open;
  CREATE UNIQUE INDEX domain_orders_open ON domain_orders (registrar, domain) WHERE state IN ('leased', 'asked');

  CREATE TABLE domain_quotes (
    id TEXT PRIMARY KEY,
    registrar TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('registration', 'renewal')),
    years INTEGER NOT NULL CHECK (years > 0),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    registration_cents INTEGER NOT NULL CHECK (registration_cents > 0), -- of the first year
    renewal_cents INTEGER NOT NULL CHECK (renewal_cents > 0), -- of each later one
    premium INTEGER NOT NULL CHECK (premium IN (0, 1)),
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX domain_quotes_domain ON domain_quotes (registrar, domain, type, created_at_ms);
  CREATE INDEX domain_quotes_expires ON domain_quotes (expires_at_ms);
`,
} as const satisfies Migration
