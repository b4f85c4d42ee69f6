import type { Migration } from '../../migrate.ts'

/** Balances of native coins, SOL on Solana and ether on Base, in which network fees are paid. */
export const coinBalances = {
  version: 21,
  up: 'ALTER TABLE balances RENAME COLUMN ether TO coin',
} as const satisfies Migration
