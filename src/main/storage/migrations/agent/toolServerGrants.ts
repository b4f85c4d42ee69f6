import type { Migration } from '../../migrate.ts'

/**
 * Scopes of grants name a tool server by its id. Earlier ones have its name, which another server may have later: they
 * are deleted, and the next call asks again. Only tools of servers have `__` in their name.
 */
export const toolServerGrants = {
  version: 31,
  up: `DELETE FROM grants WHERE kind = 'tool.call' AND instr(scope, '__') > 0`,
} as const satisfies Migration
