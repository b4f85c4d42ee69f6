import type { SecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { AppError } from '#shared/appError.ts'
import type { Wallet, WalletState } from '#shared/contract/wallet.ts'
import { toWireKeyring, type WalletRepository } from './walletRepository.ts'
import type { WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'

type Options = {
  repository: WalletRepository
  locator: SecretStoreLocator
  secrets: WalletSecrets
  settings: WalletSettings
}
type LockState = Pick<Wallet, 'state' | 'detail'>

const faultStates: Partial<Record<AppError['code'], WalletState>> = {
  'wallet/keychain-locked': 'keychain_locked',
  'wallet/keychain-unavailable': 'keychain_unavailable',
  'wallet/damaged': 'damaged',
}

/** Creates the state of the wallet, as far as it can be read without prompting the user. */
export function createWalletStatus({ repository, locator, secrets, settings }: Options) {
  /** State reported by the last call to the secret store. A successful call resets it. */
  let fault: LockState | undefined

  const readLockedState = async (): Promise<LockState> => {
    const rows = repository.keyrings().length
    try {
      const store = locator.current()
      if (!store) return rows === 0 ? { state: 'absent', detail: null } : createLostState()
      if (store.kind === 'vault_file') {
        return (await secrets.canOpen(store)) || rows === 0 ? { state: 'locked', detail: null } : createLostState()
      }
      const why = await store.fault()
      if (why !== undefined) return { state: 'keychain_unavailable', detail: why }
      return fault?.state === 'keychain_unavailable'
        ? { state: 'locked', detail: null }
        : (fault ?? { state: 'locked', detail: null })
    } catch (error) {
      return toFault(error) ?? { state: 'damaged', detail: toMessage(error) }
    }
  }

  const trackState = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work()
      fault = undefined
      return result
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'request/rate')) fault = toFault(error)
      throw error
    }
  }

  const removeSecrets = async (): Promise<void> => {
    const store = locator.current()
    if (!store) return
    for (const id of settings.removing()) await store.remove(id)
    const present = await secrets.present(store)
    if (present === undefined || present.length === 0) await secrets.end(store)
    for (const id of settings.removing()) settings.removed(id)
  }

  return {
    watched: trackState,
    absent: () => new AppError('wallet/absent', 'There is no wallet yet.'),
    /** Creates the error for a passphrase when there is nothing to unlock. */
    createUnlockError(): AppError {
      if (repository.keyrings().length === 0) return new AppError('wallet/absent', 'There is no wallet yet.')
      return new AppError('wallet/damaged', createLostState().detail)
    },
    /** Removes the remains of a wallet after a crash during its creation or removal. */
    async removeRemains(): Promise<void> {
      if (repository.keyrings().length > 0) return
      try {
        await trackState(removeSecrets)
      } catch {
        // The state reports the error.
      }
    },
    async status({ unlocked, broken }: { unlocked: boolean; broken: readonly string[] }): Promise<Wallet> {
      const rows = repository.keyrings()
      const accounts = repository.accounts()
      const labels = rows.filter((it) => broken.includes(it.id)).map((it) => `“${it.label}”`)
      const detail =
        labels.length === 0 ? null : `The secret of ${labels.join(', ')} is missing or was changed. Import it again.`
      const { state, detail: why } = unlocked ? { state: 'unlocked' as const, detail } : await readLockedState()
      return {
        state,
        detail: why,
        backend: await locator.backend(),
        auto_lock_minutes: settings.autoLockMinutes(),
        default_accounts: { evm: settings.defaultAccountId('evm'), solana: settings.defaultAccountId('solana') },
        keyrings: rows.map((it) => toWireKeyring(it, accounts)),
      }
    },
  }
}
export type WalletStatus = ReturnType<typeof createWalletStatus>

function createLostState() {
  return {
    state: 'damaged',
    detail: 'The secrets of this wallet are missing. Restore a copy, or import the phrase again.',
  } as const satisfies LockState
}

function toFault(error: unknown): LockState | undefined {
  const state = error instanceof AppError ? faultStates[error.code] : undefined
  return state && { state, detail: toMessage(error) }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
