import { AppError } from '#shared/appError.ts'
import { authLimits, type Tokens } from '#shared/contract/auth.ts'
import type { AccountId } from '#shared/ids.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Store, Transaction } from '#storage/store.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { RecordedWrite } from '../activity/recordedWrite.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import { createSecretTokens, hashSecret } from '../base/secretToken.ts'
import type { AccessTokens } from './accessTokens.ts'
import type { AccountRequests } from './accountRequests.ts'
import type { NewAccounts } from './newAccounts.ts'
import { refreshTokenRepository } from './refreshTokenRepository.ts'
import type { SignedMessage, SignInChecks } from './signInChecks.ts'
import { toWalletKey, type WalletName, walletRepository } from './walletRepository.ts'

export type SignIns = {
  /**
   * Verifies a signed message and issues tokens. `newWallets` decides whether the first sign-in of a wallet creates its
   * account; `admitNew` is called before that, and may still throw.
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
  store: Store
  writeRecorded: RecordedWrite
  accounts: Pick<AccountRepository, 'countKeysOfSignIn'>
  access: Pick<AccessTokens, 'create'>
  newWallets: NewWallets
  created: NewAccounts
  requests: Pick<AccountRequests, 'ask'>
  principals: Pick<ServicePrincipals, 'end'>
  now: () => number
  randomBytes: (count: number) => Buffer
}): SignIns {
  const { checks, store, writeRecorded, accounts, access, newWallets, created, principals, now, randomBytes } = options
  const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`

  const issue = async (
    tx: Transaction,
    signIn: { accountId: AccountId; familyId: string; wallet: WalletName },
  ): Promise<Tokens> => {
    const token = refreshTokens.create(randomBytes)
    const nowMs = now()
    const times = { createdAtMs: nowMs, expiresAtMs: nowMs + authLimits.refreshMs }
    await refreshTokenRepository.add(tx, { ...signIn, hash: hashSecret(token), ...times })
    return {
      access_token: access.create(signIn),
      refresh_token: token,
      token_type: 'Bearer',
      expires_in: authLimits.accessMs / 1000,
    }
  }

  /** @returns undefined for a wallet without an account, unless it may get one */
  const signIn = (wallet: WalletName, mayCreate: boolean): Promise<Tokens | undefined> =>
    writeRecorded(async (tx, record) => {
      await refreshTokenRepository.removeExpired(tx, now())
      const linked = await walletRepository.find(tx, wallet)
      if (!linked && !mayCreate) return undefined
      const accountId =
        linked?.accountId ?? (await created.create({ tx, record }, wallet, 'signed in for the first time'))
      await record(accountId, {
        type: 'auth.signed_in',
        description: `${shortenAddress(wallet.address)} signed in.`,
      })
      return issue(tx, { accountId, familyId: newId('fam'), wallet })
    })

  /** @returns the tokens, or the sign-in that the reuse of a token has ended */
  const exchange = (hash: Buffer): Promise<{ tokens?: Tokens; endedFamily?: string }> =>
    writeRecorded(async (tx, record) => {
      const nowMs = now()
      await refreshTokenRepository.removeExpired(tx, nowMs)
      const session = await refreshTokenRepository.find(tx, hash)
      if (!session || session.revokedAtMs !== null || session.expiresAtMs <= nowMs) return {}
      const { familyId, accountId } = session
      if (session.usedAtMs !== null) {
        // Two clients hold the token, so one of them stole it. The thief cannot be identified, so both must sign in
        // again.
        await refreshTokenRepository.revokeFamily(tx, familyId, nowMs)
        await record(accountId, {
          type: 'auth.refused_reuse',
          description: describeReuse(await accounts.countKeysOfSignIn(tx, accountId, familyId)),
        })
        return { endedFamily: familyId }
      }
      const wallets = await walletRepository.list(tx, accountId)
      const wallet = wallets.find((it) => toWalletKey(it) === session.wallet)
      if (!wallet) return {}
      await refreshTokenRepository.markUsed(tx, hash, nowMs)
      return { tokens: await issue(tx, { accountId, familyId, wallet }) }
    })

  return {
    async verify(signed, admitNew) {
      const wallet = await checks.verify(signed)
      if (newWallets === 'ask' && !(await walletRepository.find(store.read, wallet))) {
        const refusal = await options.requests.ask(wallet)
        if (refusal) throw refusal
      }
      const tokens = await signIn(wallet, false)
      if (tokens) return tokens
      if (newWallets === 'welcome') {
        admitNew()
        const ofNewAccount = await signIn(wallet, true)
        if (ofNewAccount) return ofNewAccount
      }
      throw new AppError(
        'auth/forbidden',
        'This service does not create accounts. Ask its owner to link this wallet to an account.',
      )
    },
    async refresh(token) {
      const { tokens, endedFamily } = refreshTokens.isOne(token) ? await exchange(hashSecret(token)) : {}
      if (tokens) return tokens
      if (endedFamily !== undefined) await principals.end(`sign-in:${endedFamily}`)
      throw new AppError('auth/refresh', 'The refresh token is not valid.')
    },
    async end(token) {
      if (!refreshTokens.isOne(token)) return
      const hash = hashSecret(token)
      const endedFamily = await writeRecorded(async (tx, record) => {
        const session = await refreshTokenRepository.find(tx, hash)
        if (!session || session.revokedAtMs !== null) return undefined
        await refreshTokenRepository.revokeFamily(tx, session.familyId, now())
        await record(session.accountId, { type: 'auth.signed_out', description: 'A wallet signed out.' })
        return session.familyId
      })
      if (endedFamily !== undefined) await principals.end(`sign-in:${endedFamily}`)
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
