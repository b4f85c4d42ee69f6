import type { Migration } from '../migrate.ts'

/**
 * Deletes a stored response together with the resource that its request created, so that a repetition creates it again.
 */
export const createdAnswers = {
  version: 27,
  up: `
  ALTER TABLE idempotent_answers ADD COLUMN created_id TEXT; -- sandbox, snapshot, upload or terminal; null: none
  CREATE INDEX idempotent_answers_by_created ON idempotent_answers (created_id) WHERE created_id IS NOT NULL;
  CREATE TRIGGER idempotent_answers_of_created_sandbox AFTER DELETE ON sandboxes BEGIN
    DELETE FROM idempotent_answers WHERE created_id = OLD.id;
  END;
  CREATE TRIGGER idempotent_answers_of_created_snapshot AFTER DELETE ON snapshots BEGIN
    DELETE FROM idempotent_answers WHERE created_id = OLD.id;
  END;
  CREATE TRIGGER idempotent_answers_of_created_upload AFTER DELETE ON uploads BEGIN
    DELETE FROM idempotent_answers WHERE created_id = OLD.id;
  END;
`,
} as const satisfies Migration
