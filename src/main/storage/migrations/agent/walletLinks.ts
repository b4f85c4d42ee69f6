import type { Migration } from '../../migrate.ts'

/** Wallets linked to accounts of services, and the wallet that Steward signs in with. */
export const walletLinks = {
  version: 25,
  up: `
  CREATE TABLE wallet_links (
    service_account TEXT NOT NULL,
    address TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('linking', 'linked', 'unlinking', 'off')),
    is_own INTEGER NOT NULL CHECK (is_own IN (0, 1)), -- linked by Steward itself
    PRIMARY KEY (service_account, address)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sign_in_wallets (
    service_url TEXT PRIMARY KEY,
    wallet_account TEXT NOT NULL,
    address TEXT NOT NULL,
    service_account TEXT -- null until it has signed in
  ) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
