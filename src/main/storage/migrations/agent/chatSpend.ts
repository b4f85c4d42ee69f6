import type { Migration } from '../../migrate.ts'

/** Spend and limits of chats. Amounts in micro-dollars, days in UTC. */
export const chatSpend = {
  version: 11,
  up: `
  CREATE TABLE spend_limits (
    scope TEXT PRIMARY KEY CHECK (scope IN ('day', 'conversation')),
    soft_micro_usd INTEGER CHECK (soft_micro_usd >= 0),
    hard_micro_usd INTEGER CHECK (hard_micro_usd >= 0)
  ) STRICT;

  -- The most that an answer can still cost. It counts as spent until the answer is settled, also over a crash.
  CREATE TABLE spend_reservations (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    model TEXT NOT NULL,
    day TEXT NOT NULL,
    amount_micro_usd INTEGER NOT NULL CHECK (amount_micro_usd >= 0)
  ) STRICT;
  CREATE INDEX spend_reservations_of_conversation ON spend_reservations (conversation_id);

  CREATE TABLE spend_entries (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    model TEXT NOT NULL,
    day TEXT NOT NULL, -- on which it was reserved
    cost_micro_usd INTEGER NOT NULL CHECK (cost_micro_usd >= 0),
    saved_micro_usd INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL CHECK (estimated IN (0, 1))
  ) STRICT;
  CREATE INDEX spend_entries_of_conversation ON spend_entries (conversation_id, cost_micro_usd);
  CREATE INDEX spend_entries_of_day ON spend_entries (day, cost_micro_usd);
`,
} as const satisfies Migration
