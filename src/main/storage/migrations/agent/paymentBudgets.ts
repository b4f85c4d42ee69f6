import type { Migration } from '../../migrate.ts'

/**
 * Budgets of payments. Amounts in micro-dollars. One entry per intent: 'reserved' during signing, 'signed' until the
 * outcome is known, then 'spent' or 'void'. All except 'void' count.
 */
export const paymentBudgets = {
  version: 14,
  up: `
  CREATE TABLE payment_limits (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    limits TEXT NOT NULL -- JSON: PaymentBudgetLimits
  ) STRICT;
  CREATE TABLE payment_budget_entries (
    id TEXT NOT NULL, -- of the intent
    state TEXT NOT NULL CHECK (state IN ('reserved', 'signed', 'spent', 'void')),
    amount_micro_usd INTEGER NOT NULL CHECK (amount_micro_usd >= 0),
    host TEXT NOT NULL,
    payee TEXT NOT NULL, -- network and address, CAIP-10
    at_ms INTEGER NOT NULL,
    -- Of what was signed: null where it is not known, which then counts forever.
    payer TEXT,
    nonce TEXT,
    valid_before_ms INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX payment_budget_entries_reserved ON payment_budget_entries (id) WHERE state = 'reserved';
  CREATE INDEX payment_budget_entries_by_id ON payment_budget_entries (id);
  CREATE INDEX payment_budget_entries_by_time ON payment_budget_entries (at_ms, state, amount_micro_usd);
  CREATE INDEX payment_budget_entries_open ON payment_budget_entries (valid_before_ms) WHERE state = 'signed';
  CREATE TABLE payment_payees (
    host TEXT NOT NULL,
    network TEXT NOT NULL,
    pay_to TEXT NOT NULL,
    since_ms INTEGER NOT NULL,
    PRIMARY KEY (host, network)
  ) STRICT, WITHOUT ROWID;

  -- A budget of any 24 hours needs to know when. What has a day alone counts until the end of that day.
  ALTER TABLE spend_entries ADD COLUMN at_ms INTEGER NOT NULL DEFAULT 0;
  UPDATE spend_entries SET at_ms = coalesce((unixepoch(day) + 86399) * 1000, 0);
  CREATE INDEX spend_entries_by_time ON spend_entries (at_ms, cost_micro_usd);
`,
} as const satisfies Migration
