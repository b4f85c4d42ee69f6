import { createTokenBuckets } from '#platform/concurrency/tokenBuckets.ts'
import { AppError } from '#shared/appError.ts'
import { accountRequestLimits } from '#shared/contract/accountRequests.ts'
import type { AccountId } from '#shared/ids.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Store, Transaction } from '#storage/store.ts'
import type { RecordEntry, RecordedWrite } from '../activity/recordedWrite.ts'
import { type AccountRequestRecord, accountRequestRepository } from './accountRequestRepository.ts'
import type { NewAccounts } from './newAccounts.ts'
import { type WalletName, walletRepository } from './walletRepository.ts'

export type AccountRequests = {
  /**
   * Requests approval by the owner, once, for a wallet that signed in without an account.
   * @returns the reason to reject the sign-in: `auth/account-requested`, `auth/account-denied`, or `request/rate` if
   * there are too many requests. Undefined if the wallet has an account by now
   */
  ask(wallet: WalletName): Promise<AppError | undefined>
  /** Lists pending requests first, each group newest first. */
  list(limit: number): Promise<AccountRequestRecord[]>
  /** @throws AppError `account-request/not-found`, `account-request/decided` */
  decide(id: string, allow: boolean): Promise<AccountRequestRecord>
  /**
   * Removes the request of a wallet that now has an account. Call `announce` after the transaction.
   * @returns whether the wallet had a request
   */
  withdraw(tx: Transaction, wallet: WalletName): Promise<boolean>
  /** Notifies the owner of a change. */
  announce(): void
}

/** A full inbox is emptied only by the owner. */
const fullInboxSeconds = 600

export function createAccountRequests(options: {
  store: Store
  writeRecorded: RecordedWrite
  owner: AccountId
  created: NewAccounts
  onChanged: () => void
  now: () => number
  /** Clock for removals. Default: `now`. */
  passedMs?: () => number
  randomBytes: (count: number) => Buffer
}): AccountRequests {
  const { store, writeRecorded, owner, created, onChanged, now, passedMs = now, randomBytes } = options
  const { perHour, waiting, decided, waitingMs, decidedMs } = accountRequestLimits
  // One bucket for all clients, because an attacker with many wallets may also have many addresses.
  const paced = createTokenBuckets({ burst: perHour, perSecond: perHour / 3600, now })

  const trim = (tx: Transaction): Promise<void> => {
    const nowMs = passedMs()
    const [waitingBeforeMs, decidedBeforeMs] = [nowMs - waitingMs, nowMs - decidedMs]
    return accountRequestRepository.trim(tx, { waitingBeforeMs, decidedBeforeMs, max: decided })
  }
  const add = async (tx: Transaction, record: RecordEntry, wallet: WalletName): Promise<void> => {
    const id = `areq_${randomBytes(12).toString('hex')}`
    const request = { id, wallet, state: 'waiting', askedAtMs: now(), decidedAtMs: null } as const
    await accountRequestRepository.save(tx, request)
    const description = `${shortenAddress(wallet.address)} asked for an account.`
    await record(owner, { type: 'account.requested', description })
  }

  return {
    async ask(wallet) {
      let waitSeconds: number | undefined // taken once, although PostgreSQL may repeat the transaction
      const outcome = await writeRecorded(async (tx, record) => {
        await trim(tx)
        if (await walletRepository.find(tx, wallet)) return 'has-account'
        const before = await accountRequestRepository.findOfWallet(tx, wallet)
        if (before?.state === 'denied' || before?.state === 'waiting') return before.state
        // An allowed wallet without an account was unlinked since then, so it needs approval again.
        if ((await accountRequestRepository.countWaiting(tx)) >= waiting) return 'full'
        waitSeconds ??= paced.take('all')
        if (waitSeconds > 0) return 'too-fast'
        await add(tx, record, wallet)
        return 'added'
      })
      if (outcome === 'has-account') return undefined
      if (outcome === 'full') {
        return createTooManyError('Too many wallets are waiting for an account.', fullInboxSeconds)
      }
      if (outcome === 'too-fast') {
        return createTooManyError('Too many wallets requested an account recently.', waitSeconds ?? 1)
      }
      if (outcome === 'denied') {
        return new AppError('auth/account-denied', 'The owner of this Steward denied this wallet an account.')
      }
      if (outcome === 'added') onChanged()
      return new AppError(
        'auth/account-requested',
        'This wallet has no account yet. Its request is waiting for the owner.',
      )
    },
    list: (limit) =>
      store.write(async (tx) => {
        await trim(tx)
        return accountRequestRepository.list(tx, limit)
      }),
    async decide(id, allow) {
      const state = allow ? 'allowed' : 'denied'
      const request = await writeRecorded(async (tx, record) => {
        await trim(tx)
        const before = await accountRequestRepository.find(tx, id)
        if (!before) throw new AppError('account-request/not-found', `There is no account request \`${id}\`.`)
        if (before.state === state) return before
        const { wallet } = before
        if (before.state === 'allowed') {
          throw new AppError('account-request/decided', `${shortenAddress(wallet.address)} already has an account.`)
        }
        if (allow && !(await walletRepository.find(tx, wallet))) {
          await created.create({ tx, record }, wallet, 'was allowed an account by the owner')
        }
        const after = { ...before, state, decidedAtMs: now() } as const
        await accountRequestRepository.save(tx, after)
        await record(owner, {
          type: allow ? 'account.allowed' : 'account.denied',
          description: `${allow ? 'Allowed' : 'Denied'} ${shortenAddress(wallet.address)} an account.`,
        })
        return after
      })
      onChanged()
      return request
    },
    withdraw: (tx, wallet) => accountRequestRepository.remove(tx, wallet),
    announce: onChanged,
  }
}

function createTooManyError(message: string, retryAfterSeconds: number): AppError {
  return new AppError('request/rate', message, { retryAfterSeconds })
}
