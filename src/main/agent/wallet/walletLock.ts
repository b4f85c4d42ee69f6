import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import { createEmitter } from '#shared/emitter.ts'
import { createAutoLock } from './autoLock.ts'
import { createUnlockedKeyCache } from './unlockedKeyCache.ts'
import type { WalletActivity } from './walletActivity.ts'
import { type AccountRow, requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { Secret, UnlockedSecrets, WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WalletStatus } from './walletStatus.ts'
import type { LockReason } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: WalletSecrets
  settings: WalletSettings
  state: WalletStatus
  activity: Pick<WalletActivity, 'recordLocked' | 'publishChanged'>
  now: () => number
}

/** Creates the lock of the wallet. Operations that need the passphrase or the secret store run one at a time. */
export function createWalletLock({ repository, secrets, settings, state, activity, now }: Options) {
  const keyCache = createUnlockedKeyCache()
  const runExclusive = createSerialQueue()
  /** Counts lock requests. An unlock that started before the latest one leaves the wallet locked. */
  let lockEpoch = 0
  const lockings = createEmitter()

  const forget = (): boolean => {
    idle.stop()
    return keyCache.forget()
  }
  const lockNow = (why: LockReason): void => {
    const wasOpen = forget()
    lockings.emit()
    if (!wasOpen) return
    activity.recordLocked(why)
    activity.publishChanged()
  }
  const idle = createAutoLock({ now, minutes: settings.autoLockMinutes, end: () => lockNow('unused') })

  const requireOpen = (): void => {
    idle.check()
    if (!keyCache.isUnlocked())
      throw repository.keyrings().length === 0 ? state.absent() : createLockedError('The wallet is locked.')
  }
  const recordUse = <T>(keyringId: string, it: T | undefined): T => {
    if (!keyCache.isUnlocked()) throw createLockedError('The wallet was locked in the meantime.')
    if (it === undefined) throw createDamagedSecretError(requireKeyring(repository, keyringId).label)
    idle.recordUse()
    return it
  }

  return {
    runExclusive,
    /** Decrypts the data key for the duration of `use`. */
    withPassphrase: <T>(passphrase: string, use: (opened: UnlockedSecrets) => Promise<T>): Promise<T> =>
      runExclusive(async () => {
        const opened = await state.watched(() => secrets.open(passphrase))
        if (!opened) throw state.createUnlockError()
        try {
          if (keyCache.isUnlocked()) idle.recordUse()
          return await use(opened)
        } finally {
          opened.dataKey.fill(0)
        }
      }),
    /**
     * Must be called before work that leaves the wallet unlocked.
     * @returns a function that returns false if the wallet was locked since
     */
    captureLockEpoch(): () => boolean {
      const before = lockEpoch
      return () => lockEpoch === before
    },
    /** Replaces the unlocked secrets atomically. @returns false if the wallet was locked concurrently */
    async activate({ store, dataKey }: UnlockedSecrets, isCurrent: () => boolean): Promise<boolean> {
      const texts = new Map<string, string | undefined>()
      for (const { id } of repository.keyrings()) texts.set(id, await store.read(id))
      if (!isCurrent()) return false
      keyCache.fill(dataKey, texts)
      idle.recordUse()
      return true
    },
    isOpen(): boolean {
      idle.check()
      return keyCache.isUnlocked()
    },
    /**
     * Reads a secret, which the caller must overwrite. Counts as use.
     * @throws AppError `wallet/absent`, `wallet/locked`, `wallet/damaged`
     */
    secret(keyringId: string): Secret {
      requireOpen()
      return recordUse(keyringId, keyCache.secret(keyringId))
    },
    /** Returns the 32-byte signing key of an account. Otherwise same as `secret`. */
    async key(account: AccountRow): Promise<Uint8Array> {
      requireOpen()
      return recordUse(account.keyring_id, await keyCache.key(account))
    },
    broken: keyCache.broken,
    drop: keyCache.drop,
    /** Must be called after the time of the automatic lock was changed. */
    checkUnused: idle.check,
    lock(why: LockReason): void {
      lockEpoch += 1
      lockNow(why)
    },
    /** Locks the wallet. Called after the last secret was removed. */
    lockNow,
    onLocked: lockings.subscribe,
    close(): void {
      lockEpoch += 1
      forget()
    },
  }
}
export type WalletLock = ReturnType<typeof createWalletLock>

export function createLockedError(message: string): AppError {
  return new AppError('wallet/locked', message)
}

export function createDamagedSecretError(label: string): AppError {
  return new AppError('wallet/damaged', `The secret of “${label}” is missing or was changed.`)
}
