import type { Migration } from '../../migrate.ts'

/** Sandboxes that were created for a program. A row outlives its program only if Steward exited first. */
export const programSandboxes = {
  version: 26,
  up: `
  CREATE TABLE program_sandboxes (
    name TEXT PRIMARY KEY, -- written before the sandbox is created
    sandbox_id TEXT, -- null: the creation was not answered
    created_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
} as const satisfies Migration
