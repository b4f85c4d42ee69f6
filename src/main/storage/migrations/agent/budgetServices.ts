import type { Migration } from '../../migrate.ts'

/** Service whose test ledger contains a payment: the one connected when it was signed. Null for earlier payments. */
export const budgetServices = {
  version: 32,
  up: 'ALTER TABLE payment_budget_entries ADD COLUMN service TEXT;',
} as const satisfies Migration
