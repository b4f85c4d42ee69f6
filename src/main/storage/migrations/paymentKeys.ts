import type { Migration } from '../migrate.ts'

/** Stores the `Idempotency-Key` of each order. */
export const paymentKeys = {
  version: 23,
  up: `
  ALTER TABLE payments ADD COLUMN idempotency_key TEXT;
  CREATE INDEX payments_by_key ON payments (account_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
`,
} as const satisfies Migration
