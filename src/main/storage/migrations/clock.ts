import type { Migration } from '../migrate.ts'

/** Running time and readings of the wall clock. */
export const clock = {
  version: 29,
  up: 'CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 1), state TEXT NOT NULL) STRICT; -- JSON',
} as const satisfies Migration
