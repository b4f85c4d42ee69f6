import { AppError } from '#shared/appError.ts'
import type { AccountActivityType } from '#shared/contract/activity.ts'
import { authLimits, type Tokens } from '#shared/contract/auth.ts'
import type { AccountId } from '#shared/ids.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { AccessTokens } from './accessTokens.ts'
import type { AccountRequests } from './accountRequests.ts'
import type { NewAccounts } from './newAccounts.ts'
import type { RefreshTokenRepository } from './refreshTokenRepository.ts'
import type { SignedMessage, SignInChecks } from './signInChecks.ts'
import { toWalletKey, type WalletName, type WalletRepository } from './walletRepository.ts'

export type RecordAccountActivity = (
  accountId: AccountId,
  entry: { type: AccountActivityType; description: string },
) => void

export type SignIns = {
  /**
   * Verifies a signed message and issues tokens. `newWallets` decides whether the first sign-in of a wallet creates its
   * account; `admitNew` may still throw.
   * @throws AppError `auth/nonce`, `auth/verification`, `auth/forbidden`, `auth/account-requested`,
   * `auth/account-denied`
   */
  verify(signed: SignedMessage, admitNew: () => void): Promise<Tokens>
  /**
   * Exchanges a refresh token. Each token can be used once; reusing one revokes its whole family.
   * @throws AppError `auth/refresh`
   */
  refresh(token: string): Promise<Tokens>
  /** Ends the sign-in of a token. Also succeeds for an unknown or expired token. */
  end(token: string): Promise<void>
}

/** Treatment of wallets without an account: create one, create one after approval, or reject. */
export type NewWallets = 'welcome' | 'ask' | 'refused'

const refreshTokens = createSecretTokens('srt')

export function createSignIns(options: {
  checks: SignInChecks
  wallets: WalletRepository
  accounts: Pick<AccountRepository, 'atomically' | 'countKeysOfSignIn'>
  sessions: RefreshTokenRepository
  access: Pick<AccessTokens, 'create'>
  newWallets: NewWallets
  created: NewAccounts
  requests: Pick<AccountRequests, 'ask'>
  note: RecordAccountActivity
  principals: Pick<ServicePrincipals, 'end'>
  now: () => number
  randomBytes: (count: number) => Buffer
}): SignIns {
  const { checks, wallets, accounts, sessions, access, note, principals, now, randomBytes } = options
  const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

  const findOrCreateAccount = (wallet: WalletName, admitNew: () => void): AccountId => {
    const existing = wallets.find(wallet)
    if (existing) return existing.accountId
    if (options.newWallets !== 'welcome') {
      throw new AppError(
        'auth/forbidden',
        'This service does not create accounts. Ask its owner to link this wallet to an account.',
      )
    }
    admitNew()
    return options.created.create(wallet, 'signed in for the first time')
  }

  const issue = (options: { accountId: AccountId; familyId: string; wallet: WalletName }): Tokens => {
    const token = refreshTokens.create(randomBytes)
    const nowMs = now()
    sessions.add({
      ...options,
      hash: hashSecret(token),
      createdAtMs: nowMs,
      expiresAtMs: nowMs + authLimits.refreshMs,
    })
    return {
      access_token: access.create(options),
      refresh_token: token,
      token_type: 'Bearer',
      expires_in: authLimits.accessMs / 1000,
    }
  }

  return {
    async verify(signed, admitNew) {
      const wallet = await checks.verify(signed)
      if (options.newWallets === 'ask' && !wallets.find(wallet)) throw options.requests.ask(wallet)
      return accounts.atomically(() => {
        sessions.removeExpired(now())
        const accountId = findOrCreateAccount(wallet, admitNew)
        note(accountId, { type: 'auth.signed_in', description: `${shortenAddress(wallet.address)} signed in.` })
        return issue({ accountId, familyId: newId('fam'), wallet })
      })
    },
    async refresh(token) {
      const hash = hashSecret(token)
      let reusedFamily: string | undefined
      const issued = accounts.atomically(() => {
        sessions.removeExpired(now())
        const session = refreshTokens.isOne(token) ? sessions.find(hash) : undefined
        if (!session || session.revokedAtMs !== null || session.expiresAtMs <= now()) return undefined
        const { familyId, accountId } = session
        if (session.usedAtMs !== null) {
          // Two clients hold the token, so one of them stole it. The thief cannot be identified, so both must sign in
          // again.
          sessions.revokeFamily(familyId, now())
          reusedFamily = familyId
          note(accountId, {
            type: 'auth.refused_reuse',
            description: describeReuse(accounts.countKeysOfSignIn(accountId, familyId)),
          })
          return undefined
        }
        const wallet = wallets.list(accountId).find((it) => toWalletKey(it) === session.wallet)
        if (!wallet) return undefined
        sessions.markUsed(hash, now())
        return issue({ accountId, familyId, wallet })
      })
      if (issued) return issued
      if (reusedFamily !== undefined) await principals.end(`sign-in:${reusedFamily}`)
      throw new AppError('auth/refresh', 'The refresh token is not valid.')
    },
    async end(token) {
      const session = refreshTokens.isOne(token) ? sessions.find(hashSecret(token)) : undefined
      if (!session || session.revokedAtMs !== null) return
      accounts.atomically(() => {
        sessions.revokeFamily(session.familyId, now())
        note(session.accountId, { type: 'auth.signed_out', description: 'A wallet signed out.' })
      })
      await principals.end(`sign-in:${session.familyId}`)
    },
  }
}

/**
 * @param keyCount API keys that the sign-in created. They stay valid, because a lost response to a refresh looks the
 * same as theft
 */
function describeReuse(keyCount: number): string {
  const ended = 'A refresh token was used twice, so the sign-in that it belongs to was ended.'
  if (keyCount === 0) return ended
  const keys =
    keyCount === 1 ? 'An API key that it created still works' : `${keyCount} API keys that it created still work`
  return `${ended} ${keys}: revoke those that you do not know.`
}
