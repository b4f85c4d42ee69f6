import type { Migration } from '../migrate.ts'

/**
 * `database_identity`: one random id, which labels of sandboxes name. `sandbox_removals`: sandboxes whose files are to be
 * deleted, marked before the first file goes. Files without a mark are never deleted because a row is missing.
 */
export const sandboxRemovals = {
  version: 22,
  up: `
  CREATE TABLE database_identity (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
  INSERT INTO database_identity VALUES (lower(hex(randomblob(16))));
  CREATE TABLE sandbox_removals (sandbox_id TEXT NOT NULL PRIMARY KEY, marked_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
