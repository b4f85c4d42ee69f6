import type { Migration } from '../../migrate.ts'

/**
 * `compared_accounts`: service accounts that stored references were compared with, and the last processed entry of
 * their outbox. `known_things`: resources that existed there then. References to tool servers and wallet accounts end
 * with them.
 */
export const references = {
  version: 24,
  up: `
  CREATE TABLE compared_accounts (
    account_id TEXT PRIMARY KEY,
    removed_through INTEGER NOT NULL,
    comparison INTEGER NOT NULL -- counts comparisons: the account with the lowest is removed first
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE known_things (
    account_id TEXT NOT NULL REFERENCES compared_accounts (account_id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    thing TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (account_id, kind, thing)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX known_things_by_thing ON known_things (kind, thing);

  ALTER TABLE chat_conversations ADD COLUMN notice TEXT; -- one sentence for the user, until dismissed

  CREATE TRIGGER chat_servers_of_tool_servers AFTER DELETE ON tool_servers BEGIN
    UPDATE chat_conversations SET tools = json_set(tools, '$.servers', json((
        SELECT json_group_array(value) FROM json_each(chat_conversations.tools, '$.servers') WHERE value <> OLD.id)))
      WHERE tools IS NOT NULL AND EXISTS (
        SELECT 1 FROM json_each(chat_conversations.tools, '$.servers') WHERE value = OLD.id);
  END;
  CREATE TRIGGER grants_of_wallet_accounts AFTER DELETE ON wallet_accounts BEGIN
    DELETE FROM grants WHERE account_id = OLD.id;
  END;
`,
} as const satisfies Migration
