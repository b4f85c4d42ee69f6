import { serialQueue } from '#platform/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import { emitter } from '#shared/emitter.ts'
import { autoLock } from './autoLock.ts'
import { heldKeys } from './heldKeys.ts'
import type { WalletNotes } from './walletNotes.ts'
import { type AccountRow, knownKeyring, type WalletRepository } from './walletRepository.ts'
import type { Opened, Secret, WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WatchedState } from './walletState.ts'
import type { LockReason } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  secrets: WalletSecrets
  settings: WalletSettings
  state: WatchedState
  notes: Pick<WalletNotes, 'locked' | 'changed'>
  now: () => number
}

/** Opens the wallet, holds it open, and locks it. What needs the passphrase or the secret store goes in turn. */
export function walletDoor({ repository, secrets, settings, state, notes, now }: Options) {
  const held = heldKeys()
  const inTurn = serialQueue()
  /** How often somebody asked for it to be locked: what was begun before that leaves it locked. */
  let locks = 0
  const lockings = emitter()

  const forget = (): boolean => {
    idle.stop()
    return held.forget()
  }
  const shut = (why: LockReason): void => {
    const wasOpen = forget()
    lockings.emit()
    if (!wasOpen) return
    notes.locked(why)
    notes.changed()
  }
  const idle = autoLock({ now, minutes: settings.autoLockMinutes, end: () => shut('unused') })

  const requireOpen = (): void => {
    idle.check()
    if (!held.isHeld()) throw repository.keyrings().length === 0 ? state.absent() : locked('The wallet is locked.')
  }
  const used = <T>(keyringId: string, it: T | undefined): T => {
    if (!held.isHeld()) throw locked('The wallet was locked in the meantime.')
    if (it === undefined) throw damaged(knownKeyring(repository, keyringId).label)
    idle.used()
    return it
  }

  return {
    inTurn,
    /** What the passphrase opens is closed again after `use`. */
    withPassphrase: <T>(passphrase: string, use: (opened: Opened) => Promise<T>): Promise<T> =>
      inTurn(async () => {
        const opened = await state.watched(() => secrets.open(passphrase))
        if (!opened) throw state.nothingToOpen()
        try {
          if (held.isHeld()) idle.used()
          return await use(opened)
        } finally {
          opened.dataKey.fill(0)
        }
      }),
    /** Called when something begins that leaves it open. @returns whether nobody locked it since */
    sinceNow(): () => boolean {
      const before = locks
      return () => locks === before
    },
    /** Holds what was opened, in one step; the old is used until then. @returns whether it was not locked meanwhile */
    async become({ store, dataKey }: Opened, isWanted: () => boolean): Promise<boolean> {
      const texts = new Map<string, string | undefined>()
      for (const { id } of repository.keyrings()) texts.set(id, await store.read(id))
      if (!isWanted()) return false
      held.hold(dataKey, texts)
      idle.used()
      return true
    },
    isOpen(): boolean {
      idle.check()
      return held.isHeld()
    },
    /**
     * Whoever gets the bytes overwrites them. Counts as use.
     * @throws AppError `wallet/absent`, `wallet/locked`, `wallet/damaged`
     */
    secret(keyringId: string): Secret {
      requireOpen()
      return used(keyringId, held.secret(keyringId))
    },
    /** The 32 bytes that sign for an account. Otherwise as `secret`. */
    async key(account: AccountRow): Promise<Uint8Array> {
      requireOpen()
      return used(account.keyring_id, await held.key(account))
    },
    broken: held.broken,
    drop: held.drop,
    /** The time after which it locks itself was changed. */
    checkUnused: idle.check,
    lock(why: LockReason): void {
      locks += 1
      shut(why)
    },
    /** The last secret is gone. */
    shut,
    onLocked: lockings.subscribe,
    close(): void {
      locks += 1
      forget()
    },
  }
}
export type WalletDoor = ReturnType<typeof walletDoor>

export function locked(message: string): AppError {
  return new AppError('wallet/locked', message)
}

export function damaged(label: string): AppError {
  return new AppError('wallet/damaged', `The secret of “${label}” is missing or was changed.`)
}
