import type { Migration } from '../../migrate.ts'

/**
 * External MCP servers and the user's consent to their tools. Secrets are stored only in the secret store. Adds the
 * changes made by calls.
 */
export const toolServers = {
  version: 20,
  up: `
  CREATE TABLE tool_servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    place TEXT NOT NULL, -- JSON: ToolServerPlace
    secrets TEXT NOT NULL, -- JSON, a list of names
    about TEXT NOT NULL -- JSON: what came of the last time it was asked
  ) STRICT;

  CREATE TABLE served_tools (
    server TEXT NOT NULL REFERENCES tool_servers (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    listed TEXT, -- JSON, as it is listed now; null: it is listed no more
    agreed TEXT, -- JSON, as the person saw and agreed to it; null: never
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    ask INTEGER NOT NULL CHECK (ask IN (0, 1)),
    PRIMARY KEY (server, name)
  ) STRICT, WITHOUT ROWID;

  ALTER TABLE chat_calls ADD COLUMN before TEXT; -- JSON: the DNS record that a call changes, as it was
`,
} as const satisfies Migration
