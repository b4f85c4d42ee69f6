import type { Migration } from '../migrate.ts'

/** Sign-in with wallets: their accounts, nonces, and refresh tokens. */
export const walletAccounts = {
  version: 9,
  up: `
  CREATE TABLE account_wallets (
    caip10 TEXT PRIMARY KEY, -- EVM addresses in lower case, so that one wallet is one row
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL CHECK (type IN ('evm', 'solana')),
    address TEXT NOT NULL, -- EVM: with the checksum of EIP-55
    linked_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX account_wallets_by_account ON account_wallets (account_id, linked_at_ms);

  CREATE TABLE auth_nonces (
    nonce TEXT PRIMARY KEY,
    expires_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX auth_nonces_by_time ON auth_nonces (expires_at_ms);

  CREATE TABLE refresh_tokens (
    hash BLOB PRIMARY KEY CHECK (length(hash) = 32), -- SHA-256 of the token
    family_id TEXT NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    caip10 TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    used_at_ms INTEGER, -- a used one that comes again revokes its family
    revoked_at_ms INTEGER
  ) STRICT;
  CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
  CREATE INDEX refresh_tokens_by_account ON refresh_tokens (account_id);
  CREATE INDEX refresh_tokens_by_time ON refresh_tokens (expires_at_ms);
`,
} as const satisfies Migration
