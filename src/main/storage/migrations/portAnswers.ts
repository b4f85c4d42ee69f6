import type { Migration } from '../migrate.ts'

/** Deletes a stored response together with the sandbox port or domain that its request added. */
export const portAnswers = {
  version: 32,
  up: `
  CREATE TRIGGER idempotent_answers_of_removed_port AFTER DELETE ON ports BEGIN
    DELETE FROM idempotent_answers WHERE created_id = OLD.sandbox_id || ':' || OLD.port;
  END;
  CREATE TRIGGER idempotent_answers_of_removed_domain AFTER DELETE ON sandbox_domains BEGIN
    DELETE FROM idempotent_answers WHERE created_id = OLD.sandbox_id || ':' || OLD.domain;
  END;
`,
} as const satisfies Migration
