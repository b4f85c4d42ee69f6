import type { Migration } from '../migrate.ts'

/**
 * Credit ledger. All amounts are micro-dollars. Constraints and triggers reject overdrawn accounts, holds that end
 * twice, charges of holds already charged, and changes of the journal.
 */
export const credits = {
  version: 15,
  up: `
  CREATE TABLE credit_accounts (
    id TEXT PRIMARY KEY, -- of an account, or one of the service's own below
    kind TEXT NOT NULL CHECK (kind IN ('user', 'service')),
    debits INTEGER NOT NULL DEFAULT 0 CHECK (debits BETWEEN 0 AND 9007199254740991), -- posted
    credits INTEGER NOT NULL DEFAULT 0 CHECK (credits BETWEEN 0 AND 9007199254740991), -- posted
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0), -- the sum of its open holds
    entries INTEGER NOT NULL DEFAULT 0, -- transfers of the journal that name it
    CHECK (kind = 'service' OR credits - debits - held >= 0)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO credit_accounts (id, kind) VALUES ('service:issued', 'service'), ('service:revenue', 'service');

  CREATE TABLE credit_holds (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- ended ones are removed after a while: no id comes twice
    account_id TEXT NOT NULL REFERENCES credit_accounts (id),
    key_id TEXT,
    key_day INTEGER, -- days since 1970 in UTC; of a key with a daily limit only
    key_limit INTEGER,
    amount INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 9007199254740991),
    model TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'posted', 'voided', 'expired')),
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER,
    CHECK ((state = 'open') = (ended_at_ms IS NULL)),
    CHECK ((key_day IS NULL) = (key_limit IS NULL))
  ) STRICT;
  CREATE INDEX credit_holds_open ON credit_holds (expires_at_ms) WHERE state = 'open';
  CREATE TRIGGER credit_holds_end_once BEFORE UPDATE ON credit_holds WHEN OLD.state <> 'open'
  BEGIN SELECT RAISE(ABORT, 'a hold ends once'); END;
  CREATE TRIGGER credit_holds_stay_open BEFORE DELETE ON credit_holds WHEN OLD.state = 'open'
  BEGIN SELECT RAISE(ABORT, 'an open hold is not removed'); END;

  CREATE TABLE credit_transfers (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL CHECK (type IN ('grant', 'top_up', 'transfer', 'inference', 'sandbox', 'refund')),
    debit_account TEXT NOT NULL REFERENCES credit_accounts (id),
    credit_account TEXT NOT NULL REFERENCES credit_accounts (id),
    amount INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 9007199254740991),
    debit_balance INTEGER NOT NULL,  -- of that account after it, posted
    credit_balance INTEGER NOT NULL, -- likewise
    description TEXT NOT NULL,
    details TEXT, -- JSON
    key_id TEXT,
    hold_id INTEGER UNIQUE, -- one charge for each hold
    refund_of TEXT REFERENCES credit_transfers (id),
    request_key TEXT, -- who asked and their Idempotency-Key
    at_ms INTEGER NOT NULL,
    CHECK (debit_account <> credit_account)
  ) STRICT;
  CREATE INDEX credit_transfers_debit ON credit_transfers (debit_account, sequence);
  CREATE INDEX credit_transfers_credit ON credit_transfers (credit_account, sequence)
    WHERE credit_account <> 'service:revenue';
  CREATE INDEX credit_transfers_refunds ON credit_transfers (refund_of) WHERE refund_of IS NOT NULL;
  CREATE UNIQUE INDEX credit_transfers_asked ON credit_transfers (request_key) WHERE request_key IS NOT NULL;
  CREATE TRIGGER credit_transfers_stay BEFORE UPDATE ON credit_transfers
  BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;
  CREATE TRIGGER credit_transfers_kept BEFORE DELETE ON credit_transfers
  BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;

  CREATE TABLE credit_key_days (
    key_id TEXT NOT NULL,
    day INTEGER NOT NULL, -- since 1970, in UTC
    spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0),
    held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
    PRIMARY KEY (key_id, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sandbox_meters (
    sandbox_id TEXT PRIMARY KEY,
    until_ms INTEGER NOT NULL -- charged until then
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE api_keys ADD COLUMN models TEXT; -- a JSON list; null: all
  ALTER TABLE api_keys ADD COLUMN daily_limit_micro_usd INTEGER CHECK (daily_limit_micro_usd >= 0); -- null: none
`,
} as const satisfies Migration
