import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import { accountRequestLimits } from '#shared/contract/accountRequests.ts'
import type { AccountActivityType } from '#shared/contract/activity.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { AccountRepository } from '../accounts/accountRepository.ts'
import type { AccountRequestRecord, AccountRequestRepository } from './accountRequestRepository.ts'
import type { NewAccounts } from './newAccounts.ts'
import type { WalletName, WalletRepository } from './walletRepository.ts'

export type AccountRequests = {
  /**
   * Requests approval by the owner, once, for a wallet that signed in without an account.
   * @returns the reason to reject the sign-in: `auth/account-requested`, `auth/account-denied`, or `request/rate` if
   * there are too many requests
   */
  ask(wallet: WalletName): AppError
  /** Lists pending requests first, each group newest first. */
  list(limit: number): AccountRequestRecord[]
  /** @throws AppError `account-request/not-found`, `account-request/decided` */
  decide(id: string, allow: boolean): AccountRequestRecord
  /** Removes the request of a wallet that now has an account. */
  withdraw(wallet: WalletName): void
}

/** A full inbox is emptied only by the owner. */
const fullInboxSeconds = 600

export function createAccountRequests(options: {
  records: AccountRequestRepository
  accounts: Pick<AccountRepository, 'atomically'>
  wallets: Pick<WalletRepository, 'find'>
  created: NewAccounts
  /** Adds an entry to the owner's activity log. */
  note: (entry: { type: AccountActivityType; description: string }) => void
  onChanged: () => void
  now: () => number
  /** Clock for removals. Default: `now`. */
  passedMs?: () => number
  randomBytes: (count: number) => Buffer
}): AccountRequests {
  const { records, accounts, wallets, created, note, onChanged, now, passedMs = now, randomBytes } = options
  const { perHour, waiting, decided, waitingMs, decidedMs } = accountRequestLimits
  // One bucket for all clients, because an attacker with many wallets may also have many addresses.
  const paced = createTokenBuckets({ burst: perHour, perSecond: perHour / 3600, now })

  const add = (wallet: WalletName): AppError | undefined => {
    if (records.countWaiting() >= waiting) {
      return createTooManyError('Too many wallets are waiting for an account.', fullInboxSeconds)
    }
    const waitSeconds = paced.take('all')
    if (waitSeconds > 0) return createTooManyError('Too many wallets requested an account recently.', waitSeconds)
    const id = `areq_${randomBytes(12).toString('hex')}`
    records.save({ id, wallet, state: 'waiting', askedAtMs: now(), decidedAtMs: null })
    note({ type: 'account.requested', description: `${shortenAddress(wallet.address)} asked for an account.` })
    onChanged()
    return undefined
  }

  const trim = (): void => {
    const nowMs = passedMs()
    records.trim({ waitingBeforeMs: nowMs - waitingMs, decidedBeforeMs: nowMs - decidedMs, max: decided })
  }

  return {
    ask(wallet) {
      trim()
      const before = records.ofWallet(wallet)
      if (before?.state === 'denied') {
        return new AppError('auth/account-denied', 'The owner of this Steward denied this wallet an account.')
      }
      // An allowed wallet without an account was unlinked since then, so it needs approval again.
      const refused = before?.state === 'waiting' ? undefined : add(wallet)
      if (refused) return refused
      return new AppError(
        'auth/account-requested',
        'This wallet has no account yet. Its request is waiting for the owner.',
      )
    },
    list(limit) {
      trim()
      return records.list(limit)
    },
    decide(id, allow) {
      trim()
      const state = allow ? 'allowed' : 'denied'
      const request = accounts.atomically(() => {
        const before = records.find(id)
        if (!before) throw new AppError('account-request/not-found', `There is no account request \`${id}\`.`)
        if (before.state === state) return before
        const { wallet } = before
        if (before.state === 'allowed') {
          throw new AppError('account-request/decided', `${shortenAddress(wallet.address)} already has an account.`)
        }
        if (allow && !wallets.find(wallet)) created.create(wallet, 'was allowed an account by the owner')
        const after = { ...before, state, decidedAtMs: now() } as const
        records.save(after)
        note({
          type: allow ? 'account.allowed' : 'account.denied',
          description: `${allow ? 'Allowed' : 'Denied'} ${shortenAddress(wallet.address)} an account.`,
        })
        return after
      })
      onChanged()
      return request
    },
    withdraw(wallet) {
      if (!records.ofWallet(wallet)) return
      records.remove(wallet)
      onChanged()
    },
  }
}

function createTooManyError(message: string, retryAfterSeconds: number): AppError {
  return new AppError('request/rate', message, { retryAfterSeconds })
}
