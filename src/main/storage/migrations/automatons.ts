import type { Migration } from '../migrate.ts'

export const automatons = {
  version: 10,
  up: `
  CREATE TABLE automatons (
    automaton_id TEXT PRIMARY KEY, -- canonical: lower case without dashes
    sent_automaton_id TEXT NOT NULL,
    automaton_address TEXT NOT NULL,
    creator_address TEXT NOT NULL,
    -- For comparison: EVM in lower case, Solana as it is.
    automaton_key TEXT NOT NULL,
    creator_key TEXT NOT NULL,
    name TEXT NOT NULL,
    bio TEXT NOT NULL,
    genesis_prompt_hash TEXT,
    chain_type TEXT NOT NULL CHECK (chain_type IN ('evm', 'solana')),
    payload_hash TEXT NOT NULL,
    nonce TEXT NOT NULL,
    signature TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX automatons_by_creator ON automatons (creator_key, created_at_ms);
  CREATE INDEX automatons_by_address ON automatons (automaton_key, created_at_ms);

  CREATE TABLE automaton_nonces (
    nonce TEXT PRIMARY KEY,
    creator_key TEXT, -- bound to this creator; null: a client's own, kept once it was used
    automaton_id TEXT,
    used_at_ms INTEGER,
    expires_at_ms INTEGER -- of a bound one that waits
  ) STRICT;
  CREATE INDEX automaton_nonces_by_time ON automaton_nonces (expires_at_ms) WHERE used_at_ms IS NULL;
`,
} as const satisfies Migration
