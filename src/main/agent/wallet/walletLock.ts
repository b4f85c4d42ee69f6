import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import { createEmitter } from '#shared/emitter.ts'
import { createAutoLock } from './autoLock.ts'
import { createUnlockedKeyCache } from './unlockedKeyCache.ts'
import type { WalletNotes } from './walletNotes.ts'
import { type AccountRow, requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { Secret, UnlockedSecrets, WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WatchedState } from './walletState.ts'
import type { LockReason } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: WalletSecrets
  settings: WalletSettings
  state: WatchedState
  notes: Pick<WalletNotes, 'recordLocked' | 'publishChanged'>
  now: () => number
}

/** Creates the lock of the wallet. Operations that need the passphrase or the secret store run one at a time. */
export function createWalletLock({ repository, secrets, settings, state, notes, now }: Options) {
  const keyCache = createUnlockedKeyCache()
  const inTurn = createSerialQueue()
  /** Counts lock requests. An unlock that started before the latest one leaves the wallet locked. */
  let locks = 0
  const lockings = createEmitter()

  const forget = (): boolean => {
    idle.stop()
    return keyCache.forget()
  }
  const shut = (why: LockReason): void => {
    const wasOpen = forget()
    lockings.emit()
    if (!wasOpen) return
    notes.recordLocked(why)
    notes.publishChanged()
  }
  const idle = createAutoLock({ now, minutes: settings.autoLockMinutes, end: () => shut('unused') })

  const requireOpen = (): void => {
    idle.check()
    if (!keyCache.isHeld())
      throw repository.keyrings().length === 0 ? state.absent() : createLockedError('The wallet is locked.')
  }
  const recordUse = <T>(keyringId: string, it: T | undefined): T => {
    if (!keyCache.isHeld()) throw createLockedError('The wallet was locked in the meantime.')
    if (it === undefined) throw createDamagedSecretError(requireKeyring(repository, keyringId).label)
    idle.recordUse()
    return it
  }

  return {
    inTurn,
    /** Decrypts the data key for the duration of `use`. */
    withPassphrase: <T>(passphrase: string, use: (opened: UnlockedSecrets) => Promise<T>): Promise<T> =>
      inTurn(async () => {
        const opened = await state.watched(() => secrets.open(passphrase))
        if (!opened) throw state.nothingToOpen()
        try {
          if (keyCache.isHeld()) idle.recordUse()
          return await use(opened)
        } finally {
          opened.dataKey.fill(0)
        }
      }),
    /**
     * Must be called before work that leaves the wallet unlocked.
     * @returns a function that returns false if the wallet was locked since
     */
    sinceNow(): () => boolean {
      const before = locks
      return () => locks === before
    },
    /** Replaces the unlocked secrets atomically. @returns false if the wallet was locked concurrently */
    async become({ store, dataKey }: UnlockedSecrets, isCurrent: () => boolean): Promise<boolean> {
      const texts = new Map<string, string | undefined>()
      for (const { id } of repository.keyrings()) texts.set(id, await store.read(id))
      if (!isCurrent()) return false
      keyCache.hold(dataKey, texts)
      idle.recordUse()
      return true
    },
    isOpen(): boolean {
      idle.check()
      return keyCache.isHeld()
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
      locks += 1
      shut(why)
    },
    /** Locks the wallet. Called after the last secret was removed. */
    shut,
    onLocked: lockings.subscribe,
    close(): void {
      locks += 1
      forget()
    },
  }
}
export type WalletDoor = ReturnType<typeof createWalletLock>

export function createLockedError(message: string): AppError {
  return new AppError('wallet/locked', message)
}

export function createDamagedSecretError(label: string): AppError {
  return new AppError('wallet/damaged', `The secret of “${label}” is missing or was changed.`)
}
