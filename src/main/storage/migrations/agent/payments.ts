import type { Migration } from '../../migrate.ts'

/** Outgoing payments. A row is written before anything is sent. */
export const payments = {
  version: 13,
  up: `
  CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    intent_id TEXT NOT NULL UNIQUE,
    state TEXT NOT NULL
      CHECK (state IN ('planned', 'waiting', 'signed', 'sent', 'settled', 'refused', 'unknown', 'reconciled')),
    paid INTEGER CHECK (paid IN (0, 1)), -- null: not known yet
    asker TEXT NOT NULL, -- kind and id
    host TEXT NOT NULL,
    words TEXT NOT NULL, -- what a search looks in
    created_at_ms INTEGER NOT NULL,
    next_at_ms INTEGER, -- when it is looked after again; null: it has ended, or waits for its intent
    record TEXT NOT NULL, -- JSON: PaymentReceipt without its answer
    request TEXT NOT NULL, -- JSON: what is sent, without credentials
    payload TEXT, -- the signed payment as it is sent; the same bytes each time
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    answer TEXT, -- JSON: PaidAnswer
    CHECK (payload IS NOT NULL OR state IN ('planned', 'waiting', 'refused', 'unknown', 'reconciled')),
    CHECK (state <> 'settled' OR paid = 1),
    CHECK (state <> 'reconciled' OR paid IS NOT NULL)
  ) STRICT;
  CREATE INDEX payments_by_time ON payments (created_at_ms, id);
  CREATE INDEX payments_by_next ON payments (next_at_ms) WHERE next_at_ms IS NOT NULL;
`,
} as const satisfies Migration
