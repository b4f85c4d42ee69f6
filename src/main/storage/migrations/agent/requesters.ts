import type { Migration } from '../../migrate.ts'

const renameInRecord = (table: string) => `
  UPDATE ${table} SET record =
    json_set(json_remove(record, '$.asker'), '$.requester', json_extract(record, '$.asker'))
  WHERE CASE WHEN json_valid(record) THEN json_type(record, '$.asker') END = 'object';`

/** Renames askers to requesters: in columns, in stored records and in the rules of the policy. */
export const requesters = {
  version: 33,
  up: `
  ALTER TABLE intents RENAME COLUMN asker_kind TO requester_kind;
  ALTER TABLE intents RENAME COLUMN asker_id TO requester_id;
  ALTER TABLE grants RENAME COLUMN asker TO requester;
  ALTER TABLE asked_once RENAME COLUMN asker TO requester;
  ALTER TABLE payments RENAME COLUMN asker TO requester;
  ${renameInRecord('intents')}
  ${renameInRecord('payments')}
  UPDATE policy SET policy = json_set(policy, '$.rules', json((
    SELECT json_group_array(json(renamed)) FROM (
      SELECT json_set(json_remove(value, '$.asker'), '$.requester', json_extract(value, '$.asker')) AS renamed
      FROM json_each(policy.policy, '$.rules') ORDER BY key
    )
  )))
  WHERE CASE WHEN json_valid(policy) THEN json_type(policy, '$.rules') END = 'array';
`,
} as const satisfies Migration
