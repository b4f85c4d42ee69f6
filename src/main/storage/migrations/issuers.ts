import type { Migration } from '../migrate.ts'

/**
 * Principal that issued a credential. Links and tokens end with their API key, and API keys with the wallet whose
 * sign-in created them. All null: issued by the window, by the key of the owner's file (for API keys), or by an earlier
 * version.
 */
export const issuers = {
  version: 28,
  up: `
  ALTER TABLE terminal_links ADD COLUMN issuer_key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE;
  ALTER TABLE terminal_links ADD COLUMN issuer_sign_in TEXT; -- family of refresh tokens
  CREATE INDEX terminal_links_by_issuer ON terminal_links (issuer_key_id);
  ALTER TABLE port_tokens ADD COLUMN issuer_key_id TEXT REFERENCES api_keys (id) ON DELETE CASCADE;
  ALTER TABLE port_tokens ADD COLUMN issuer_sign_in TEXT; -- family of refresh tokens
  CREATE INDEX port_tokens_by_issuer ON port_tokens (issuer_key_id);
  ALTER TABLE api_keys ADD COLUMN issuer_caip10 TEXT REFERENCES account_wallets (caip10) ON DELETE CASCADE;
  ALTER TABLE api_keys ADD COLUMN issuer_sign_in TEXT; -- family of refresh tokens
  CREATE INDEX api_keys_by_issuer ON api_keys (issuer_caip10);
`,
} as const satisfies Migration
