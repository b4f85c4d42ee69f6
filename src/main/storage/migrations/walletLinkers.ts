import type { Migration } from '../migrate.ts'

/**
 * Address of the wallet whose sign-in linked a wallet. Null for the first wallet, or if it was linked with the key of
 * the owner's file.
 */
export const walletLinkers = {
  version: 34,
  up: 'ALTER TABLE account_wallets ADD COLUMN linked_by TEXT;',
} as const satisfies Migration
