import type { Migration } from '../../migrate.ts'

/**
 * Reference comparisons by service, so that a service cannot replace or evict the records of another. Rows of earlier
 * versions have an empty `service` until a service compares their account.
 */
export const referencesByService = {
  version: 30,
  up: `
  CREATE TABLE service_accounts (
    service TEXT NOT NULL,
    account_id TEXT NOT NULL,
    removed_through INTEGER NOT NULL,
    comparison INTEGER NOT NULL, -- counts comparisons: the account with the lowest is removed first
    PRIMARY KEY (service, account_id)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO service_accounts (service, account_id, removed_through, comparison)
    SELECT '', account_id, removed_through, comparison FROM compared_accounts;
  CREATE TABLE service_things (
    service TEXT NOT NULL,
    account_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    thing TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (service, account_id, kind, thing),
    FOREIGN KEY (service, account_id) REFERENCES service_accounts (service, account_id)
      ON UPDATE CASCADE ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  INSERT INTO service_things (service, account_id, kind, thing, name)
    SELECT '', account_id, kind, thing, name FROM known_things;
  DROP TABLE known_things;
  DROP TABLE compared_accounts;
  ALTER TABLE service_accounts RENAME TO compared_accounts;
  ALTER TABLE service_things RENAME TO known_things;
  CREATE INDEX known_things_by_thing ON known_things (kind, thing);
`,
} as const satisfies Migration
