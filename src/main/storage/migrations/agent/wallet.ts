import type { Migration } from '../../migrate.ts'

/** Public part of the wallet. Secrets are stored only in the secret store. */
export const wallet = {
  version: 1,
  up: `
  CREATE TABLE keyrings (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('phrase', 'private_key')),
    label TEXT NOT NULL,
    words INTEGER,
    written_down INTEGER NOT NULL CHECK (written_down IN (0, 1)),
    created_at_ms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE wallet_accounts (
    id TEXT PRIMARY KEY,
    keyring_id TEXT NOT NULL REFERENCES keyrings (id) ON DELETE CASCADE,
    chain_type TEXT NOT NULL CHECK (chain_type IN ('evm', 'solana')),
    address TEXT NOT NULL,
    path TEXT, -- BIP-44; null for an imported private key
    label TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    UNIQUE (chain_type, address)
  ) STRICT;
  CREATE INDEX wallet_accounts_by_keyring ON wallet_accounts (keyring_id, created_at_ms);

  CREATE TABLE agent_settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL -- JSON, never a secret
  ) STRICT;

  CREATE TABLE balances (
    account_id TEXT NOT NULL REFERENCES wallet_accounts (id) ON DELETE CASCADE,
    network TEXT NOT NULL,
    usdc TEXT NOT NULL,  -- atomic units
    ether TEXT NOT NULL, -- wei
    as_of_ms INTEGER NOT NULL,
    PRIMARY KEY (account_id, network)
  ) STRICT;
`,
} as const satisfies Migration
