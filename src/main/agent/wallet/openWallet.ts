import type { SecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { type Clock, createTrustedClock } from '#platform/time/clock.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { createKeyringImport } from './keyringImport.ts'
import { createKeyringRemoval } from './keyringRemoval.ts'
import { recoverWallet } from './recoverWallet.ts'
import { createPhrase } from './recoveryPhrase.ts'
import { createSecretExport } from './secretExport.ts'
import { createSigningKeys } from './signingKeys.ts'
import { fullCost, type HeaderCost } from './vaultHeader.ts'
import { createWalletActivity } from './walletActivity.ts'
import { createWalletLabels } from './walletLabels.ts'
import { createLockedError, createWalletLock } from './walletLock.ts'
import type { WalletRepository } from './walletRepository.ts'
import { createWalletSecrets } from './walletSecrets.ts'
import { createWalletSettings } from './walletSettings.ts'
import { createWalletStatus } from './walletStatus.ts'
import type { KeyringRemoval, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  locator: SecretStoreLocator
  events: Pick<LocalEvents, 'publish'>
  recordActivity: RecordActivity
  now: () => number
  /** Defaults to removing only the keyring. */
  removal?: KeyringRemoval
  /** Clock for delays and the automatic lock. Defaults to `now`. */
  clock?: Pick<Clock, 'runningMs' | 'steadyMs'>
  /** Cost of each passphrase guess, for new wallets and passphrases. */
  cost?: HeaderCost
}

export function openWallet(options: Options): WalletVault {
  const { repository, locator, events, recordActivity, now, clock = createTrustedClock(now), cost = fullCost } = options
  const { removal = (_, remove) => remove() } = options
  repository.deriveIds()
  const activity = createWalletActivity({ recordActivity, events })
  const secrets = createWalletSecrets({ locator, now: clock.runningMs, cost })
  const settings = createWalletSettings(repository)
  const state = createWalletStatus({ repository, locator, secrets, settings })
  const walletLock = createWalletLock({ repository, secrets, settings, state, activity, now: clock.steadyMs })
  const walletRecovery = recoverWallet({ repository, secrets, settings, walletLock, activity, now })

  return {
    ...createKeyringImport({ repository, secrets, state, walletLock, activity, now }),
    ...createSecretExport({ repository, walletLock, activity, now }),
    ...createKeyringRemoval({ repository, secrets, settings, walletLock, recovery: walletRecovery, activity, removal }),
    ...createWalletLabels({ repository, settings, walletLock, activity, now }),
    ...createSigningKeys({ repository, settings, state, walletLock }),

    async status() {
      const unlocked = walletLock.isOpen()
      const broken = walletLock.broken()
      if (!unlocked) await walletLock.runExclusive(state.removeRemains)
      return state.status({ unlocked: walletLock.isOpen(), broken })
    },
    unlock(passphrase) {
      const isCurrent = walletLock.captureLockEpoch()
      return walletLock.withPassphrase(passphrase, async (opened) => {
        await walletRecovery.finishRemovals(opened)
        await walletRecovery.adoptSecrets(opened)
        if (!(await walletLock.activate(opened, isCurrent)))
          throw createLockedError('The wallet was locked while it was being unlocked.')
        await walletRecovery.correctAddresses()
        activity.recordUnlocked()
        activity.publishChanged()
      })
    },
    lock: (why = 'person') => walletLock.lock(why),
    onLocked: walletLock.onLocked,
    canOpen: () =>
      walletLock.runExclusive(async () => {
        const store = locator.current()
        return store !== undefined && secrets.canOpen(store)
      }),
    checkPassphrase: (passphrase) => walletLock.withPassphrase(passphrase, async () => {}),
    changePassphrase: ({ from, to }) =>
      walletLock.withPassphrase(from, async (opened) => {
        await secrets.rewrap(opened, to)
        activity.passphraseChanged()
      }),
    makePhrase: createPhrase,
    close: walletLock.close,
  }
}
