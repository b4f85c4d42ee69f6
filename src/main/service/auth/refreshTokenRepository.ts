import type { AccountId } from '#shared/ids.ts'
import { defineStatement, type Query, type Transaction } from '#storage/store.ts'
import { bytes, defineTable, nullable, number, type Params, type RowOf, renameColumn, text } from '#storage/table.ts'
import { toWalletKey, type WalletName } from './walletRepository.ts'

const refreshTokens = defineTable('refresh_tokens', {
  /** SHA-256 of the token. The token is not stored. */
  hash: bytes(),
  /** Sign-in that the token belongs to. */
  familyId: text(),
  accountId: text<AccountId>(),
  /** `walletKey` of the wallet. */
  wallet: renameColumn('caip10', text()),
  createdAtMs: number(),
  expiresAtMs: number(),
  usedAtMs: nullable(number()),
  revokedAtMs: nullable(number()),
})
type StoredRefreshToken = RowOf<typeof refreshTokens>
export type RefreshToken = Omit<StoredRefreshToken, 'wallet' | 'usedAtMs' | 'revokedAtMs'> & { wallet: WalletName }

/** Account of a sign-in, and whether it is the owner. */
export type SignInRights = { accountId: AccountId; owner: boolean }

export const refreshTokenStatements = {
  add: defineStatement<Params<keyof StoredRefreshToken>>(refreshTokens.insert),
  find: defineStatement<Params<'hash'>>(
    `SELECT ${refreshTokens.selection()} FROM refresh_tokens WHERE hash = @hash`,
  ).withRows(refreshTokens.fromRow),
  markUsed: defineStatement<Params<'hash' | 'atMs'>>('UPDATE refresh_tokens SET used_at_ms = @atMs WHERE hash = @hash'),
  revokeFamily: defineStatement<Params<'familyId' | 'atMs'>>(
    'UPDATE refresh_tokens SET revoked_at_ms = @atMs WHERE family_id = @familyId AND revoked_at_ms IS NULL',
  ),
  revokeWallet: defineStatement<Params<'wallet' | 'accountId' | 'atMs'>>(
    `UPDATE refresh_tokens SET revoked_at_ms = @atMs
     WHERE account_id = @accountId AND caip10 = @wallet AND revoked_at_ms IS NULL`,
  ),
  findRights: defineStatement<Params<'familyId'>>(
    `SELECT accounts.id AS "accountId", accounts.role = 'owner' AS owner FROM refresh_tokens
       JOIN accounts ON accounts.id = refresh_tokens.account_id
       JOIN account_wallets USING (caip10, account_id)
     WHERE family_id = @familyId AND revoked_at_ms IS NULL LIMIT 1`,
  ).withRows((row): SignInRights => ({ accountId: row.accountId as AccountId, owner: row.owner === 1 })),
  removeExpired: defineStatement<Params<'nowMs'>>('DELETE FROM refresh_tokens WHERE expires_at_ms <= @nowMs'),
}

/** Refresh tokens of sign-ins. */
export const refreshTokenRepository = {
  async add(tx: Transaction, { wallet, ...token }: RefreshToken): Promise<void> {
    const stored = { ...token, wallet: toWalletKey(wallet), usedAtMs: null, revokedAtMs: null }
    await tx.run(refreshTokenStatements.add, refreshTokens.params(stored))
  },
  find: (query: Query, hash: Buffer): Promise<StoredRefreshToken | undefined> =>
    query.first(refreshTokenStatements.find, { hash }),
  async markUsed(tx: Transaction, hash: Buffer, atMs: number): Promise<void> {
    await tx.run(refreshTokenStatements.markUsed, { hash, atMs })
  },
  async revokeFamily(tx: Transaction, familyId: string, atMs: number): Promise<void> {
    await tx.run(refreshTokenStatements.revokeFamily, { familyId, atMs })
  },
  /** Revokes the tokens of a wallet that belongs to the account. */
  async revokeWallet(tx: Transaction, wallet: WalletName & { accountId: AccountId }, atMs: number): Promise<void> {
    const { accountId } = wallet
    await tx.run(refreshTokenStatements.revokeWallet, { wallet: toWalletKey(wallet), accountId, atMs })
  },
  /** @returns undefined after the sign-in ended or its wallet was unlinked */
  findRights: (query: Query, familyId: string): Promise<SignInRights | undefined> =>
    query.first(refreshTokenStatements.findRights, { familyId }),
  async removeExpired(tx: Transaction, nowMs: number): Promise<void> {
    await tx.run(refreshTokenStatements.removeExpired, { nowMs })
  },
}
