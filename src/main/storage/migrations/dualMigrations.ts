/** Migration of the schema of the service on both engines. `version` continues after `postgresBaseline`. */
export type DualMigration = { readonly version: number; readonly sqlite: string; readonly postgres: string }

/** In order. Released migrations never change. */
export const dualMigrations: readonly DualMigration[] = []
