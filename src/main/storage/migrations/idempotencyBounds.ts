import type { Migration } from '../migrate.ts'

/**
 * Deletes rows with their sandbox, and stores their size for the budget of an account. Clears long responses of earlier
 * versions, as if they were not stored.
 */
export const idempotencyBounds = {
  version: 24,
  up: `
  ALTER TABLE idempotent_answers ADD COLUMN sandbox_id TEXT;
  ALTER TABLE idempotent_answers ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE idempotent_answers SET status = 200, body = '' WHERE length(body) > 1048576;
  UPDATE idempotent_answers SET bytes = length(CAST(body AS BLOB));
  CREATE INDEX idempotent_answers_by_account ON idempotent_answers (account_id, expires_at_ms, bytes);
  CREATE INDEX idempotent_answers_by_sandbox ON idempotent_answers (sandbox_id) WHERE sandbox_id IS NOT NULL;
  CREATE TRIGGER idempotent_answers_of_sandbox AFTER DELETE ON sandboxes BEGIN
    DELETE FROM idempotent_answers WHERE sandbox_id = OLD.id;
  END;
`,
} as const satisfies Migration
