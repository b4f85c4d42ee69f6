import type { Migration } from '../migrate.ts'

/**
 * Adjustments and daily sums, so that spending is read without the journal. Triggers maintain the sums, so every
 * transfer updates them. SQLite cannot change a CHECK in place.
 */
export const creditDays = {
  version: 16,
  up: `
  CREATE TABLE new_credit_transfers (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL CHECK (
      type IN ('grant', 'top_up', 'adjustment', 'transfer', 'inference', 'sandbox', 'refund')),
    debit_account TEXT NOT NULL REFERENCES credit_accounts (id),
    credit_account TEXT NOT NULL REFERENCES credit_accounts (id),
    amount INTEGER NOT NULL CHECK (amount BETWEEN 0 AND 9007199254740991),
    debit_balance INTEGER NOT NULL,  -- of that account after it, posted
    credit_balance INTEGER NOT NULL, -- likewise
    description TEXT NOT NULL,
    details TEXT, -- JSON
    key_id TEXT,
    hold_id INTEGER UNIQUE, -- one charge for each hold
    refund_of TEXT REFERENCES new_credit_transfers (id),
    request_key TEXT, -- who asked and their Idempotency-Key
    at_ms INTEGER NOT NULL,
    CHECK (debit_account <> credit_account)
  ) STRICT;
  INSERT INTO new_credit_transfers SELECT sequence, id, type, debit_account, credit_account, amount, debit_balance,
    credit_balance, description, details, key_id, hold_id, refund_of, request_key, at_ms
    FROM credit_transfers ORDER BY sequence;
  DROP TABLE credit_transfers;
  ALTER TABLE new_credit_transfers RENAME TO credit_transfers;
  CREATE INDEX credit_transfers_debit ON credit_transfers (debit_account, sequence);
  CREATE INDEX credit_transfers_credit ON credit_transfers (credit_account, sequence)
    WHERE credit_account <> 'service:revenue';
  CREATE INDEX credit_transfers_refunds ON credit_transfers (refund_of) WHERE refund_of IS NOT NULL;
  CREATE UNIQUE INDEX credit_transfers_asked ON credit_transfers (request_key) WHERE request_key IS NOT NULL;
  CREATE TRIGGER credit_transfers_stay BEFORE UPDATE ON credit_transfers
  BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;
  CREATE TRIGGER credit_transfers_kept BEFORE DELETE ON credit_transfers
  BEGIN SELECT RAISE(ABORT, 'the journal only grows'); END;

  CREATE TABLE credit_days (
    account_id TEXT NOT NULL,
    day INTEGER NOT NULL, -- since 1970, in UTC
    type TEXT NOT NULL,
    model TEXT NOT NULL,  -- of inference, and of the charge that a refund is for; otherwise empty
    key_id TEXT NOT NULL, -- likewise; empty without a key
    transfers INTEGER NOT NULL,
    debits INTEGER NOT NULL,
    credits INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, type, model, key_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO credit_days
    SELECT side.account_id, side.at_ms / 86400000, side.type, side.model, side.key_id,
      count(*), sum(side.debit), sum(side.credit)
    FROM (
      SELECT debit_account AS account_id, at_ms, type, iif(type = 'inference', description, '') AS model,
        coalesce(key_id, '') AS key_id, amount AS debit, 0 AS credit
      FROM credit_transfers WHERE debit_account NOT LIKE 'service:%'
      UNION ALL
      SELECT moved.credit_account, moved.at_ms, moved.type, iif(charge.type = 'inference', charge.description, ''),
        coalesce(charge.key_id, ''), 0, moved.amount
      FROM credit_transfers AS moved LEFT JOIN credit_transfers AS charge ON charge.id = moved.refund_of
      WHERE moved.credit_account NOT LIKE 'service:%'
    ) AS side
    GROUP BY 1, 2, 3, 4, 5;
  CREATE TRIGGER credit_days_count_debits AFTER INSERT ON credit_transfers WHEN NEW.debit_account NOT LIKE 'service:%'
  BEGIN
    INSERT INTO credit_days VALUES (NEW.debit_account, NEW.at_ms / 86400000, NEW.type,
      iif(NEW.type = 'inference', NEW.description, ''), coalesce(NEW.key_id, ''), 1, NEW.amount, 0)
    ON CONFLICT DO UPDATE SET transfers = transfers + 1, debits = debits + excluded.debits;
  END;
  CREATE TRIGGER credit_days_count_credits AFTER INSERT ON credit_transfers WHEN NEW.credit_account NOT LIKE 'service:%'
  BEGIN
    INSERT INTO credit_days VALUES (NEW.credit_account, NEW.at_ms / 86400000, NEW.type,
      coalesce((SELECT description FROM credit_transfers WHERE id = NEW.refund_of AND type = 'inference'), ''),
      coalesce((SELECT key_id FROM credit_transfers WHERE id = NEW.refund_of), ''), 1, 0, NEW.amount)
    ON CONFLICT DO UPDATE SET transfers = transfers + 1, credits = credits + excluded.credits;
  END;
`,
} as const satisfies Migration
