import type { Migration } from '../migrate.ts'

/**
 * `removed_things`: outbox for references outside this database, written by triggers so that every removal has an
 * entry. The newest 1,000 per account are retained. `orphaned_domains`: domains whose sandbox was deleted; their DNS
 * records still point to this service. Terminal links end when their sandbox stops.
 */
export const removedThings = {
  version: 25,
  up: `
  CREATE TABLE removed_things (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('sandbox', 'key', 'domain')),
    thing TEXT NOT NULL, -- its id; the name of a domain
    name TEXT NOT NULL -- the last one
  ) STRICT;
  CREATE INDEX removed_things_by_account ON removed_things (account_id, sequence);
  CREATE TRIGGER removed_things_bound AFTER INSERT ON removed_things BEGIN
    DELETE FROM removed_things WHERE account_id = NEW.account_id AND sequence <= (
      SELECT sequence FROM removed_things WHERE account_id = NEW.account_id ORDER BY sequence DESC LIMIT 1 OFFSET 1000);
  END;

  CREATE TRIGGER removed_things_of_sandboxes AFTER DELETE ON sandboxes BEGIN
    INSERT INTO removed_things (account_id, kind, thing, name)
      SELECT id, 'sandbox', OLD.id, OLD.name FROM accounts WHERE id = OLD.account_id;
  END;
  CREATE TRIGGER removed_things_of_keys AFTER DELETE ON api_keys BEGIN
    INSERT INTO removed_things (account_id, kind, thing, name)
      SELECT id, 'key', OLD.id, OLD.name FROM accounts WHERE id = OLD.account_id;
  END;

  ALTER TABLE domains ADD COLUMN left_at_ms INTEGER; -- when the registrar first said that its account does not have it
  CREATE TRIGGER removed_things_of_left_domains AFTER UPDATE OF left_at_ms ON domains
    WHEN OLD.left_at_ms IS NULL AND NEW.left_at_ms IS NOT NULL BEGIN
    INSERT INTO removed_things (account_id, kind, thing, name)
      SELECT id, 'domain', NEW.name, NEW.name FROM accounts WHERE id = NEW.account_id;
  END;
  CREATE TRIGGER removed_things_of_domains AFTER DELETE ON domains WHEN OLD.left_at_ms IS NULL BEGIN
    INSERT INTO removed_things (account_id, kind, thing, name)
      SELECT id, 'domain', OLD.name, OLD.name FROM accounts WHERE id = OLD.account_id;
  END;

  CREATE TABLE orphaned_domains (
    domain TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    sandbox_id TEXT NOT NULL,
    sandbox_name TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX orphaned_domains_by_account ON orphaned_domains (account_id, domain);
  CREATE TRIGGER orphaned_domains_of_sandboxes BEFORE DELETE ON sandboxes BEGIN
    INSERT OR REPLACE INTO orphaned_domains
      SELECT domain, OLD.account_id, OLD.id, OLD.name FROM sandbox_domains WHERE sandbox_id = OLD.id;
  END;
  CREATE TRIGGER orphaned_domains_in_use AFTER INSERT ON sandbox_domains BEGIN
    DELETE FROM orphaned_domains WHERE domain = NEW.domain;
  END;

  CREATE TRIGGER terminal_links_of_stopped_sandboxes AFTER UPDATE OF status ON sandboxes
    WHEN OLD.status = 'running' AND NEW.status <> 'running' BEGIN
    DELETE FROM terminal_links WHERE sandbox_id = NEW.id;
  END;
`,
} as const satisfies Migration
