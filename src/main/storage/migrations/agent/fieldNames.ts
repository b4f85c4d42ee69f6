import type { Migration } from '../../migrate.ts'

const renameInRecord = (table: string) => `
  UPDATE ${table} SET record =
    json_set(json_remove(record, '$.asker'), '$.requester', json_extract(record, '$.asker'))
  WHERE CASE WHEN json_valid(record) THEN json_type(record, '$.asker') END = 'object';`

/** Renames fields of the local API in columns, stored records and policy rules. */
export const fieldNames = {
  version: 33,
  up: `
  ALTER TABLE intents RENAME COLUMN asker_kind TO requester_kind;
  ALTER TABLE intents RENAME COLUMN asker_id TO requester_id;
  ALTER TABLE grants RENAME COLUMN asker TO requester;
  ALTER TABLE asked_once RENAME COLUMN asker TO requester;
  ALTER TABLE payments RENAME COLUMN asker TO requester;
  ALTER TABLE domain_renewals RENAME COLUMN most_micro_usd TO max_micro_usd;
  ALTER TABLE domain_notices RENAME COLUMN told_at_ms TO notified_at_ms;
  UPDATE tool_servers SET about = json_set(
    json_remove(about, '$.calls_itself', '$.revision'),
    '$.server_name', json_extract(about, '$.calls_itself'), '$.protocol_version', json_extract(about, '$.revision')
  )
  WHERE CASE WHEN json_valid(about) THEN json_type(about) END = 'object';
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
