import type { AccountId } from '#shared/ids.ts'
import type { Database } from '#storage/sqlite/openDatabase.ts'
import {
  bytes,
  defineTable,
  nullable,
  number,
  type Params,
  type RowOf,
  renameColumn,
  type StoredRow,
  text,
} from '#storage/table.ts'
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

export type RefreshTokenRepository = {
  add(token: RefreshToken): void
  find(hash: Buffer): StoredRefreshToken | undefined
  markUsed(hash: Buffer, atMs: number): void
  revokeFamily(familyId: string, atMs: number): void
  revokeWallet(wallet: WalletName, atMs: number): void
  /**
   * Returns the account of a sign-in and whether it is the owner.
   * @returns undefined after the sign-in ended or its wallet was unlinked
   */
  findRights(familyId: string): { accountId: AccountId; owner: boolean } | undefined
  removeExpired(nowMs: number): void
}

export function createRefreshTokenRepository(database: Database): RefreshTokenRepository {
  const add = database.prepare<[Params<keyof StoredRefreshToken>]>(refreshTokens.insert)
  const find = database.prepare<[Params<'hash'>], StoredRow>(
    `SELECT ${refreshTokens.selection()} FROM refresh_tokens WHERE hash = @hash`,
  )
  const markUsed = database.prepare<[Params<'hash' | 'atMs'>]>(
    'UPDATE refresh_tokens SET used_at_ms = @atMs WHERE hash = @hash',
  )
  const revokeFamily = database.prepare<[Params<'familyId' | 'atMs'>]>(
    'UPDATE refresh_tokens SET revoked_at_ms = @atMs WHERE family_id = @familyId AND revoked_at_ms IS NULL',
  )
  const revokeWallet = database.prepare<[Params<'wallet' | 'atMs'>]>(
    'UPDATE refresh_tokens SET revoked_at_ms = @atMs WHERE caip10 = @wallet AND revoked_at_ms IS NULL',
  )
  const findRights = database.prepare<[Params<'familyId'>], { accountId: AccountId; owner: 0 | 1 }>(
    `SELECT accounts.id AS "accountId", accounts.role = 'owner' AS owner FROM refresh_tokens
       JOIN accounts ON accounts.id = refresh_tokens.account_id
       JOIN account_wallets USING (caip10, account_id)
     WHERE family_id = @familyId AND revoked_at_ms IS NULL LIMIT 1`,
  )
  const removeExpired = database.prepare<[Params<'nowMs'>]>('DELETE FROM refresh_tokens WHERE expires_at_ms <= @nowMs')
  return {
    add(token) {
      const wallet = toWalletKey(token.wallet)
      add.run(refreshTokens.params({ ...token, wallet, usedAtMs: null, revokedAtMs: null }))
    },
    find(hash) {
      const row = find.get({ hash })
      return row && refreshTokens.fromRow(row)
    },
    markUsed: (hash, atMs) => void markUsed.run({ hash, atMs }),
    revokeFamily: (familyId, atMs) => void revokeFamily.run({ familyId, atMs }),
    revokeWallet: (wallet, atMs) => void revokeWallet.run({ wallet: toWalletKey(wallet), atMs }),
    findRights(familyId) {
      const row = findRights.get({ familyId })
      return row && { accountId: row.accountId, owner: row.owner === 1 }
    },
    removeExpired: (nowMs) => void removeExpired.run({ nowMs }),
  }
}
