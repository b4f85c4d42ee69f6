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
import { createWalletLabels } from './walletLabels.ts'
import { createLockedError, createWalletLock } from './walletLock.ts'
import { createWalletNotes } from './walletNotes.ts'
import type { WalletRepository } from './walletRepository.ts'
import { createWalletSecrets } from './walletSecrets.ts'
import { createWalletSettings } from './walletSettings.ts'
import { createWalletState } from './walletState.ts'
import type { KeyringRemoval, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  locator: SecretStoreLocator
  events: Pick<LocalEvents, 'publish'>
  note: RecordActivity
  now: () => number
  /** Defaults to removing only the keyring. */
  removal?: KeyringRemoval
  /** Clock for delays and the automatic lock. Defaults to `now`. */
  clock?: Pick<Clock, 'runningMs' | 'steadyMs'>
  /** Cost of each passphrase guess, for new wallets and passphrases. */
  cost?: HeaderCost
}

export function openWallet(options: Options): WalletVault {
  const { repository, locator, events, note, now, clock = createTrustedClock(now), cost = fullCost } = options
  const { removal = (_, remove) => remove() } = options
  repository.deriveIds()
  const notes = createWalletNotes({ note, events })
  const secrets = createWalletSecrets({ locator, now: clock.runningMs, cost })
  const settings = createWalletSettings(repository)
  const state = createWalletState({ repository, locator, secrets, settings })
  const door = createWalletLock({ repository, secrets, settings, state, notes, now: clock.steadyMs })
  const walletRecovery = recoverWallet({ repository, secrets, settings, door, notes, now })

  return {
    ...createKeyringImport({ repository, secrets, state, door, notes, now }),
    ...createSecretExport({ repository, door, notes, now }),
    ...createKeyringRemoval({ repository, secrets, settings, door, recovery: walletRecovery, notes, removal }),
    ...createWalletLabels({ repository, settings, door, notes, now }),
    ...createSigningKeys({ repository, settings, state, door }),

    async status() {
      const unlocked = door.isOpen()
      const broken = door.broken()
      if (!unlocked) await door.inTurn(state.tidy)
      return state.status({ unlocked: door.isOpen(), broken })
    },
    unlock(passphrase) {
      const isCurrent = door.sinceNow()
      return door.withPassphrase(passphrase, async (opened) => {
        await walletRecovery.finishRemovals(opened)
        await walletRecovery.adoptSecrets(opened)
        if (!(await door.become(opened, isCurrent)))
          throw createLockedError('The wallet was locked while it was opening.')
        await walletRecovery.correctAddresses()
        notes.recordUnlocked()
        notes.publishChanged()
      })
    },
    lock: (why = 'person') => door.lock(why),
    onLocked: door.onLocked,
    canOpen: () =>
      door.inTurn(async () => {
        const store = locator.current()
        return store !== undefined && secrets.canOpen(store)
      }),
    checkPassphrase: (passphrase) => door.withPassphrase(passphrase, async () => {}),
    changePassphrase: ({ from, to }) =>
      door.withPassphrase(from, async (opened) => {
        await secrets.rewrap(opened, to)
        notes.passphraseChanged()
      }),
    makePhrase: createPhrase,
    close: door.close,
  }
}
