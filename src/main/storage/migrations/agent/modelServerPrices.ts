import type { Migration } from '../../migrate.ts'

/**
 * Treats model servers on the internet as paid. Their price is unknown until their model list or the user provides it.
 */
export const modelServerPrices = {
  version: 23,
  up: `
  ALTER TABLE model_servers ADD COLUMN free INTEGER NOT NULL DEFAULT 1 CHECK (free IN (0, 1));
  ALTER TABLE model_servers ADD COLUMN price TEXT; -- JSON, of all its models; null: not set
  ALTER TABLE model_servers ADD COLUMN listed_prices TEXT NOT NULL DEFAULT '{}'; -- JSON, by model
  UPDATE model_servers SET free = 0 WHERE lower(base_url) LIKE 'https://%';
`,
} as const satisfies Migration
