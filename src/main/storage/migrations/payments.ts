import type { Migration } from '../migrate.ts'

/** x402 payments, and the ledger of test money. Amounts in millionths of a USDC. */
export const payments = {
  version: 17,
  up: `
  CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    network TEXT NOT NULL,
    asset TEXT NOT NULL,
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    operation TEXT NOT NULL, -- what was bought
    account_id TEXT NOT NULL, -- whom it is bound to, and who is credited if the work fails
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    body_hash BLOB NOT NULL,
    authorization TEXT NOT NULL, -- as it was signed, in JSON: it can be used once, for what it says
    amount INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 9007199254740991),
    purchase TEXT NOT NULL, -- JSON, of the operation
    state TEXT NOT NULL CHECK (state IN ('verifying', 'settling', 'settled', 'failed', 'unknown')),
    work TEXT NOT NULL DEFAULT 'none' CHECK (work IN ('none', 'waiting', 'begun', 'done', 'credited')),
    transaction_hash TEXT,
    answer_status INTEGER,
    answer_body TEXT,
    attempts INTEGER NOT NULL DEFAULT 0, -- to find out what became of it
    next_at_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    CHECK ((state = 'settled') = (work <> 'none')),
    CHECK ((state = 'settled') = (transaction_hash IS NOT NULL)),
    CHECK ((answer_status IS NULL) = (answer_body IS NULL)),
    UNIQUE (network, asset, payer, nonce)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX payments_unfinished ON payments (next_at_ms)
    WHERE state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun');
  CREATE TRIGGER payments_settle_once BEFORE UPDATE OF state ON payments WHEN OLD.state = 'settled' AND NEW.state <> 'settled'
  BEGIN SELECT RAISE(ABORT, 'a payment settles once'); END;
  CREATE TRIGGER payments_work_once BEFORE UPDATE OF work ON payments WHEN OLD.work IN ('done', 'credited') AND NEW.work <> OLD.work
  BEGIN SELECT RAISE(ABORT, 'what was paid for is done once'); END;

  CREATE TABLE test_money (
    address TEXT PRIMARY KEY,
    balance INTEGER NOT NULL CHECK (balance BETWEEN 0 AND 9007199254740991)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE test_money_transfers (
    payer TEXT NOT NULL,
    nonce TEXT NOT NULL,
    payee TEXT NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0),
    transaction_hash TEXT NOT NULL UNIQUE,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (payer, nonce)
  ) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
