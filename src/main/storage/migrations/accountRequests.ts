import type { Migration } from '../migrate.ts'

/** Account requests of wallets, and the user's decisions. */
export const accountRequests = {
  version: 12,
  up: `
  CREATE TABLE account_requests (
    id TEXT PRIMARY KEY,
    caip10 TEXT NOT NULL UNIQUE, -- EVM addresses in lower case: a wallet asks once
    type TEXT NOT NULL CHECK (type IN ('evm', 'solana')),
    address TEXT NOT NULL, -- EVM: with the checksum of EIP-55
    state TEXT NOT NULL CHECK (state IN ('waiting', 'allowed', 'denied')),
    asked_at_ms INTEGER NOT NULL,
    decided_at_ms INTEGER,
    CHECK ((state = 'waiting') = (decided_at_ms IS NULL))
  ) STRICT;
  CREATE INDEX account_requests_by_state ON account_requests (state, asked_at_ms);
`,
} as const satisfies Migration
