import type { Migration } from '../../migrate.ts'

/** Tool clients, their spending, and calls that outlive their request. */
export const tools = {
  version: 15,
  up: `
  CREATE TABLE tool_clients (
    id TEXT PRIMARY KEY,
    key_hash BLOB NOT NULL UNIQUE, -- SHA-256; the key itself is nowhere
    key_prefix TEXT NOT NULL,
    settings TEXT NOT NULL, -- JSON
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER
  ) STRICT;

  CREATE TABLE tool_spending (
    id TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    day TEXT NOT NULL, -- of UTC
    amount_micro_usd INTEGER NOT NULL CHECK (amount_micro_usd >= 0),
    held INTEGER NOT NULL CHECK (held IN (0, 1)) -- not known yet to be spent
  ) STRICT;
  CREATE INDEX tool_spending_by_day ON tool_spending (holder, day);

  CREATE TABLE tool_calls (
    id TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    digest TEXT NOT NULL,
    intent_id TEXT UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'denied', 'unclear')),
    record TEXT NOT NULL, -- JSON: ToolCallRecord
    given TEXT NOT NULL, -- JSON: the arguments, until it has ended
    caller TEXT NOT NULL, -- JSON
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX tool_calls_by_state ON tool_calls (state);

  CREATE TABLE tool_payments (
    digest TEXT PRIMARY KEY,
    key TEXT NOT NULL, -- Idempotency-Key of what the digest stands for
    used_at_ms INTEGER NOT NULL -- ahead of time while what it stands for waits
  ) STRICT;
`,
} as const satisfies Migration
