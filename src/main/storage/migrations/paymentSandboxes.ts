import type { Migration } from '../migrate.ts'

/** Sandbox of a purchase. It cannot be deleted while the purchase is being settled and delivered. */
export const paymentSandboxes = {
  version: 33,
  up: `
  ALTER TABLE payments ADD COLUMN sandbox_id TEXT;
  CREATE INDEX payments_by_sandbox ON payments (sandbox_id) WHERE sandbox_id IS NOT NULL;
`,
} as const satisfies Migration
