import type { Migration } from '../migrate.ts'

/** Limits a resource, such as a domain, to one unfinished payment at a time. */
export const paymentResources = {
  version: 26,
  up: `
  ALTER TABLE payments ADD COLUMN resource TEXT;
  CREATE UNIQUE INDEX payments_by_resource ON payments (resource)
    WHERE resource IS NOT NULL AND (state IN ('verifying', 'settling', 'unknown') OR work IN ('waiting', 'begun'));
`,
} as const satisfies Migration
