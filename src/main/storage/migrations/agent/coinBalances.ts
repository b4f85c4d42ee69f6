import type { Migration } from '../../migrate.ts'

/** Balances on Solana are kept beside those of Base: of the coin, ether or SOL, that a network's fees are paid in. */
export const coinBalances = {
  version: 21,
  up: 'ALTER TABLE balances RENAME COLUMN ether TO coin',
} as const satisfies Migration
