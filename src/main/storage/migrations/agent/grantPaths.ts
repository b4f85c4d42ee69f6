import type { Migration } from '../../migrate.ts'

/** Path of a grant that is limited to one path of a host. NULL: the whole host. */
export const grantPaths = {
  version: 29,
  up: 'ALTER TABLE grants ADD COLUMN path TEXT',
} as const satisfies Migration
