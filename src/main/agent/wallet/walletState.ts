import { AppError } from '#shared/appError.ts'
import type { Wallet, WalletState } from '#shared/contract/wallet.ts'
import type { WalletPlaces } from './walletPlaces.ts'
import { keyringOf, type WalletRepository } from './walletRepository.ts'
import type { WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'

type Options = {
  repository: WalletRepository
  places: WalletPlaces
  secrets: WalletSecrets
  settings: WalletSettings
}
type Told = Pick<Wallet, 'state' | 'detail'>

const faultStates: Partial<Record<AppError['code'], WalletState>> = {
  'wallet/keychain-locked': 'keychain_locked',
  'wallet/keychain-unavailable': 'keychain_unavailable',
  'wallet/damaged': 'damaged',
}

/** In which state the wallet is, as far as it can be told without asking the person for anything. */
export function walletState({ repository, places, secrets, settings }: Options) {
  /** What the last call to the secret store has said; the next one that works ends it. */
  let fault: Told | undefined

  const lockedState = async (): Promise<Told> => {
    const rows = repository.keyrings().length
    try {
      const store = places.current()
      if (!store) return rows === 0 ? { state: 'absent', detail: null } : lost()
      if (store.kind === 'vault_file') {
        return (await secrets.canOpen(store)) || rows === 0 ? { state: 'locked', detail: null } : lost()
      }
      const why = await store.fault()
      if (why !== undefined) return { state: 'keychain_unavailable', detail: why }
      return fault?.state === 'keychain_unavailable'
        ? { state: 'locked', detail: null }
        : (fault ?? { state: 'locked', detail: null })
    } catch (failure) {
      return faultOf(failure) ?? { state: 'damaged', detail: messageOf(failure) }
    }
  }

  const watched = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work()
      fault = undefined
      return result
    } catch (failure) {
      if (!(failure instanceof AppError && failure.code === 'request/rate')) fault = faultOf(failure)
      throw failure
    }
  }

  const takeAway = async (): Promise<void> => {
    const store = places.current()
    if (!store) return
    for (const id of settings.removing()) await store.remove(id)
    const present = await secrets.present(store)
    if (present === undefined || present.length === 0) await secrets.end(store)
    for (const id of settings.removing()) settings.removed(id)
  }

  return {
    watched,
    absent: () => new AppError('wallet/absent', 'There is no wallet yet.'),
    /** For a passphrase that finds nothing to open. */
    nothingToOpen(): AppError {
      if (repository.keyrings().length === 0) return new AppError('wallet/absent', 'There is no wallet yet.')
      return new AppError('wallet/damaged', lost().detail)
    },
    /** Takes away what a crash has left of a wallet that never came to be, or that was removed. */
    async tidy(): Promise<void> {
      if (repository.keyrings().length > 0) return
      try {
        await watched(takeAway)
      } catch {
        // The state tells what is wrong.
      }
    },
    async status({ unlocked, broken }: { unlocked: boolean; broken: readonly string[] }): Promise<Wallet> {
      const rows = repository.keyrings()
      const accounts = repository.accounts()
      const labels = rows.filter((it) => broken.includes(it.id)).map((it) => `“${it.label}”`)
      const detail =
        labels.length === 0 ? null : `The secret of ${labels.join(', ')} is missing or was changed. Import it again.`
      const { state, detail: why } = unlocked ? { state: 'unlocked' as const, detail } : await lockedState()
      return {
        state,
        detail: why,
        backend: await places.backend(),
        auto_lock_minutes: settings.autoLockMinutes(),
        default_accounts: { evm: settings.defaultAccountId('evm'), solana: settings.defaultAccountId('solana') },
        keyrings: rows.map((it) => keyringOf(it, accounts)),
      }
    },
  }
}
export type WatchedState = ReturnType<typeof walletState>

function lost() {
  return {
    state: 'damaged',
    detail: 'The secrets of this wallet are missing. Restore a copy, or import the phrase again.',
  } as const satisfies Told
}

function faultOf(failure: unknown): Told | undefined {
  const state = failure instanceof AppError ? faultStates[failure.code] : undefined
  return state && { state, detail: messageOf(failure) }
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
