import type { Migration } from '../../migrate.ts'

/** Service that was connected when a payment was signed, whose test ledger has it. Null for earlier ones. */
export const budgetServices = {
  version: 32,
  up: 'ALTER TABLE payment_budget_entries ADD COLUMN service TEXT;',
} as const satisfies Migration
