/** SQL condition of a table with a column `issuer_sign_in`: the sign-in, where there is one, holds. */
export const issuerIsPresent = `(issuer_sign_in IS NULL OR EXISTS (
  SELECT 1 FROM refresh_tokens JOIN account_wallets USING (caip10, account_id)
  WHERE family_id = issuer_sign_in AND revoked_at_ms IS NULL))`
