import type { Migration } from '../../migrate.ts'

/**
 * Leases of resources that are being purchased, so that only one of two concurrent requests for the same resource is
 * paid.
 */
export const purchaseLeases = {
  version: 27,
  up: `
  CREATE TABLE purchase_leases (
    purchase TEXT PRIMARY KEY,
    intent_id TEXT NOT NULL REFERENCES intents (id) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX purchase_leases_by_intent ON purchase_leases (intent_id);
`,
} as const satisfies Migration
