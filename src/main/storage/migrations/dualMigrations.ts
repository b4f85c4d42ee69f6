/** Migration of the schema of the service on both engines. `version` continues after `postgresBaseline`. */
export type DualMigration = { readonly version: number; readonly sqlite: string; readonly postgres: string }

/** In order. Released migrations never change. */
export const dualMigrations: readonly DualMigration[] = [
  {
    // Order in which the ports of a sandbox were exposed. A custom domain may lead to the first one.
    version: 35,
    sqlite: `ALTER TABLE ports ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
      UPDATE ports SET sequence = rowid;`,
    postgres: 'ALTER TABLE ports ADD COLUMN sequence bigint NOT NULL DEFAULT 0',
  },
]
