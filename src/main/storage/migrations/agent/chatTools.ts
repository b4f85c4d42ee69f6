import type { Migration } from '../../migrate.ts'

/**
 * Tools that models call in chats. A run has steps: text, then tool calls, whose results are sent back to the model.
 */
export const chatTools = {
  version: 16,
  up: `
  ALTER TABLE chat_conversations ADD COLUMN tools TEXT; -- JSON; null: off

  CREATE TABLE chat_steps (
    message INTEGER NOT NULL REFERENCES chat_messages (number) ON DELETE CASCADE,
    step INTEGER NOT NULL CHECK (step > 0),
    at INTEGER NOT NULL CHECK (at >= 0), -- its calls stand behind so many characters of the message
    carried TEXT NOT NULL, -- JSON: what the provider wants back unchanged within the answer
    PRIMARY KEY (message, step)
  ) STRICT, WITHOUT ROWID;

  -- A call is kept before it runs, and never run again.
  CREATE TABLE chat_calls (
    id TEXT PRIMARY KEY,
    message INTEGER NOT NULL REFERENCES chat_messages (number) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    place INTEGER NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL, -- as the model wrote them
    extra TEXT, -- JSON, as 'carried' of a step
    state TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'failed', 'denied', 'stopped', 'interrupted')),
    note TEXT,
    intent_id TEXT,
    output TEXT, -- what the model gets
    result TEXT, -- JSON
    started_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER,
    UNIQUE (message, step, place)
  ) STRICT;
  CREATE INDEX chat_calls_open ON chat_calls (id) WHERE ended_at_ms IS NULL;
`,
} as const satisfies Migration
