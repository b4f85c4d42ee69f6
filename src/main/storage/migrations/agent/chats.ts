import type { Migration } from '../../migrate.ts'

/**
 * Conversations. Messages form a tree stored as branches: positions within a branch are contiguous, and a branch starts
 * after a position of another. Any page of a branch is therefore one read of an index.
 */
export const chats = {
  version: 10,
  up: `
  CREATE TABLE chat_folders (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL
  ) STRICT;

  CREATE TABLE chat_conversations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    titled INTEGER NOT NULL CHECK (titled IN (0, 1)), -- 0: its first message names it
    folder_id TEXT REFERENCES chat_folders (id) ON DELETE SET NULL,
    pinned INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    models TEXT NOT NULL, -- JSON
    system_prompt TEXT NOT NULL,
    parameters TEXT NOT NULL, -- JSON
    limits TEXT, -- JSON; null: the default holds
    leaf_id TEXT,
    message_count INTEGER NOT NULL CHECK (message_count >= 0),
    forked_from TEXT, -- JSON
    source_format TEXT,
    source_id TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    deleted_at_ms INTEGER,
    UNIQUE (source_format, source_id)
  ) STRICT;
  CREATE INDEX chat_conversations_shown ON chat_conversations (pinned DESC, updated_at_ms DESC, number DESC)
    WHERE deleted_at_ms IS NULL;
  CREATE INDEX chat_conversations_deleted ON chat_conversations (deleted_at_ms) WHERE deleted_at_ms IS NOT NULL;
  CREATE INDEX chat_conversations_in_folder ON chat_conversations (folder_id);

  CREATE TABLE chat_branches (
    number INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES chat_conversations (number) ON DELETE CASCADE,
    from_branch INTEGER, -- null: it begins the conversation
    from_position INTEGER NOT NULL CHECK (from_position >= 0)
  ) STRICT;
  CREATE INDEX chat_branches_of ON chat_branches (conversation);
  CREATE INDEX chat_branches_from ON chat_branches (from_branch, from_position);

  CREATE TABLE chat_messages (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES chat_conversations (number) ON DELETE CASCADE,
    parent INTEGER NOT NULL, -- number of a message, 0 for none; no reference: a chain is deeper than cascades go
    branch INTEGER NOT NULL,
    position INTEGER NOT NULL CHECK (position > 0),
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    state TEXT NOT NULL CHECK (state IN ('complete', 'waiting', 'streaming', 'stopped', 'interrupted', 'failed')),
    model TEXT,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    bytes INTEGER NOT NULL, -- of what is sent of it, attachments as text included
    tokens INTEGER NOT NULL, -- estimated
    group_id TEXT,
    request_id TEXT,
    source_id TEXT, -- in the export that it came with
    error TEXT, -- JSON
    usage TEXT, -- JSON
    finish_reason TEXT,
    omitted INTEGER NOT NULL,
    clamped INTEGER,
    warnings TEXT NOT NULL, -- JSON
    created_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER,
    UNIQUE (branch, position),
    UNIQUE (conversation, source_id)
  ) STRICT;
  CREATE INDEX chat_messages_in ON chat_messages (conversation, parent);
  CREATE INDEX chat_messages_of_group ON chat_messages (group_id) WHERE group_id IS NOT NULL;
  CREATE INDEX chat_messages_of_request ON chat_messages (conversation, request_id) WHERE request_id IS NOT NULL;
  CREATE INDEX chat_messages_running ON chat_messages (number) WHERE finished_at_ms IS NULL;

  -- Of answers that are being made: what came so far. A crash leaves it, and the next start puts it together.
  CREATE TABLE chat_received (
    message INTEGER NOT NULL REFERENCES chat_messages (number) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    text TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    PRIMARY KEY (message, sequence)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE chat_blobs (hash TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  CREATE TABLE chat_attachments (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL REFERENCES chat_blobs (hash),
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('image', 'text')),
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    tokens INTEGER NOT NULL, -- estimated
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX chat_attachments_of_blob ON chat_attachments (hash);
  CREATE TABLE chat_message_attachments (
    message INTEGER NOT NULL REFERENCES chat_messages (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    attachment_id TEXT NOT NULL REFERENCES chat_attachments (id),
    PRIMARY KEY (message, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX chat_message_attachments_used ON chat_message_attachments (attachment_id);

  CREATE TABLE chat_prompts (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT;

  -- A finished text never changes, so a message is indexed once.
  CREATE VIRTUAL TABLE chat_message_index USING fts5(
    text, content = 'chat_messages', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
  );
  CREATE TRIGGER chat_messages_added AFTER INSERT ON chat_messages WHEN new.finished_at_ms IS NOT NULL BEGIN
    INSERT INTO chat_message_index (rowid, text) VALUES (new.number, new.text);
  END;
  CREATE TRIGGER chat_messages_finished AFTER UPDATE ON chat_messages
    WHEN old.finished_at_ms IS NULL AND new.finished_at_ms IS NOT NULL BEGIN
    INSERT INTO chat_message_index (rowid, text) VALUES (new.number, new.text);
  END;
  CREATE TRIGGER chat_messages_deleted AFTER DELETE ON chat_messages WHEN old.finished_at_ms IS NOT NULL BEGIN
    INSERT INTO chat_message_index (chat_message_index, rowid, text) VALUES ('delete', old.number, old.text);
  END;

  CREATE VIRTUAL TABLE chat_title_index USING fts5(
    title, content = 'chat_conversations', content_rowid = 'number', tokenize = "unicode61 remove_diacritics 2"
  );
  CREATE TRIGGER chat_conversations_added AFTER INSERT ON chat_conversations BEGIN
    INSERT INTO chat_title_index (rowid, title) VALUES (new.number, new.title);
  END;
  CREATE TRIGGER chat_conversations_renamed AFTER UPDATE OF title ON chat_conversations BEGIN
    INSERT INTO chat_title_index (chat_title_index, rowid, title) VALUES ('delete', old.number, old.title);
    INSERT INTO chat_title_index (rowid, title) VALUES (new.number, new.title);
  END;
  CREATE TRIGGER chat_conversations_purged AFTER DELETE ON chat_conversations BEGIN
    INSERT INTO chat_title_index (chat_title_index, rowid, title) VALUES ('delete', old.number, old.title);
  END;
`,
} as const satisfies Migration
