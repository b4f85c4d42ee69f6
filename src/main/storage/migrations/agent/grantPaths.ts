import type { Migration } from '../../migrate.ts'

/** Grants that hold for one path of a host alone. NULL: for all that the host sells. */
export const grantPaths = {
  version: 29,
  up: 'ALTER TABLE grants ADD COLUMN path TEXT',
} as const satisfies Migration
