import type { Migration } from '../migrate.ts'

/** Start of the metered run, its running time, and the epoch of that time. */
export const runningMeters = {
  version: 30,
  up: `
  ALTER TABLE sandbox_meters ADD COLUMN started_at_ms INTEGER; -- of the run that is metered
  ALTER TABLE sandbox_meters ADD COLUMN running_ms REAL;
  ALTER TABLE sandbox_meters ADD COLUMN epoch TEXT;
`,
} as const satisfies Migration
