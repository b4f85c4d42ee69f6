/**
 * Returns an SQL condition: the sign-in that issued a credential of this table is active, or the credential was not
 * issued by one.
 */
export const formatIssuerCondition = (table: 'terminal_links' | 'port_tokens'): string =>
  `(${table}.issuer_sign_in IS NULL OR EXISTS (
    SELECT 1 FROM refresh_tokens JOIN account_wallets USING (caip10, account_id)
    WHERE family_id = ${table}.issuer_sign_in AND revoked_at_ms IS NULL))`
