import type { Migration } from '../migrate.ts'

/**
 * `database_identity`: random id that is part of sandbox labels. `sandbox_removals`: sandboxes whose files are being
 * deleted, inserted before the first file is removed. Files without such a row are never deleted because of a missing
 * record.
 */
export const sandboxRemovals = {
  version: 22,
  up: `
  CREATE TABLE database_identity (id TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;
  INSERT INTO database_identity VALUES (lower(hex(randomblob(16))));
  CREATE TABLE sandbox_removals (sandbox_id TEXT NOT NULL PRIMARY KEY, marked_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
