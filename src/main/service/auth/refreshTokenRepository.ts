import { AccountId } from '../../../shared/ids.ts'
import type { Database } from '../../storage/openDatabase.ts'
import { type WalletName, walletKey } from './walletRepository.ts'

export type RefreshToken = {
  /** SHA-256 of the token; the token itself is never kept. */
  hash: Buffer
  /** All that came from one sign-in. */
  familyId: string
  accountId: AccountId
  wallet: WalletName
  createdAtMs: number
  expiresAtMs: number
}
export type RefreshTokenState = Pick<RefreshToken, 'familyId' | 'accountId' | 'expiresAtMs'> & {
  /** `walletKey` of its wallet. */
  wallet: string
  usedAtMs: number | null
  revokedAtMs: number | null
}

export type RefreshTokenRepository = {
  add(token: RefreshToken): void
  find(hash: Buffer): RefreshTokenState | undefined
  markUsed(hash: Buffer, atMs: number): void
  revokeFamily(familyId: string, atMs: number): void
  revokeWallet(wallet: WalletName, atMs: number): void
  /** Returns the account of a sign-in and its role; undefined once it was ended, or its wallet unlinked. */
  findRights(familyId: string): { accountId: AccountId; owner: boolean } | undefined
  removeExpired(nowMs: number): void
}

type StateRow = Omit<RefreshTokenState, 'accountId'> & { accountId: string }

export function refreshTokenRepository(database: Database): RefreshTokenRepository {
  const add = database.prepare<[Buffer, string, string, string, number, number]>(
    `INSERT INTO refresh_tokens (hash, family_id, account_id, caip10, created_at_ms, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const find = database.prepare<[Buffer], StateRow>(
    `SELECT family_id AS familyId, account_id AS accountId, caip10 AS wallet, expires_at_ms AS expiresAtMs,
       used_at_ms AS usedAtMs, revoked_at_ms AS revokedAtMs FROM refresh_tokens WHERE hash = ?`,
  )
  const markUsed = database.prepare<[number, Buffer]>('UPDATE refresh_tokens SET used_at_ms = ? WHERE hash = ?')
  const revokeFamily = database.prepare<[number, string]>(
    'UPDATE refresh_tokens SET revoked_at_ms = ? WHERE family_id = ? AND revoked_at_ms IS NULL',
  )
  const revokeWallet = database.prepare<[number, string]>(
    'UPDATE refresh_tokens SET revoked_at_ms = ? WHERE caip10 = ? AND revoked_at_ms IS NULL',
  )
  const findRights = database.prepare<[string], { accountId: string; owner: 0 | 1 }>(
    `SELECT accounts.id AS accountId, accounts.role = 'owner' AS owner FROM refresh_tokens
       JOIN accounts ON accounts.id = refresh_tokens.account_id
       JOIN account_wallets USING (caip10, account_id)
     WHERE family_id = ? AND revoked_at_ms IS NULL LIMIT 1`,
  )
  const removeExpired = database.prepare<[number]>('DELETE FROM refresh_tokens WHERE expires_at_ms <= ?')
  return {
    add({ hash, familyId, accountId, wallet, createdAtMs, expiresAtMs }) {
      add.run(hash, familyId, accountId, walletKey(wallet), createdAtMs, expiresAtMs)
    },
    find(hash) {
      const row = find.get(hash)
      return row && { ...row, accountId: AccountId.parse(row.accountId) }
    },
    markUsed(hash, atMs) {
      markUsed.run(atMs, hash)
    },
    revokeFamily(familyId, atMs) {
      revokeFamily.run(atMs, familyId)
    },
    revokeWallet(wallet, atMs) {
      revokeWallet.run(atMs, walletKey(wallet))
    },
    findRights(familyId) {
      const row = findRights.get(familyId)
      return row && { accountId: AccountId.parse(row.accountId), owner: row.owner === 1 }
    },
    removeExpired(nowMs) {
      removeExpired.run(nowMs)
    },
  }
}
