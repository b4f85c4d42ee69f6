import type { Migration } from '../../migrate.ts'

/**
 * Identifies tool servers in grant scopes by id instead of name. Another server may get the same name later, so earlier
 * grants are deleted and the next call requires approval. Only tools of servers contain `__` in their name.
 */
export const toolServerGrants = {
  version: 31,
  up: `DELETE FROM grants WHERE kind = 'tool.call' AND instr(scope, '__') > 0`,
} as const satisfies Migration
