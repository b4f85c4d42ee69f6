import { type Clock, createEvenClock } from '#platform/clock.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { Note } from '../base/note.ts'
import { addedSecrets } from './addedSecrets.ts'
import { mendedWallet } from './mendedWallet.ts'
import { newPhrase } from './recoveryPhrase.ts'
import { removedSecrets } from './removedSecrets.ts'
import { shownSecrets } from './shownSecrets.ts'
import { signingKeys } from './signingKeys.ts'
import { fullCost, type HeaderCost } from './vaultHeader.ts'
import { locked, walletDoor } from './walletDoor.ts'
import { walletLabels } from './walletLabels.ts'
import { walletNotes } from './walletNotes.ts'
import type { WalletPlaces } from './walletPlaces.ts'
import type { WalletRepository } from './walletRepository.ts'
import { walletSecrets } from './walletSecrets.ts'
import { walletSettings } from './walletSettings.ts'
import { walletState } from './walletState.ts'
import type { KeyringRemoval, WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  places: WalletPlaces
  events: Pick<LocalEvents, 'publish'>
  note: Note
  now: () => number
  /** Default: the keyring alone is removed. */
  removal?: KeyringRemoval
  /** For pauses and the automatic lock. Default: time passes as `now` says. */
  clock?: Pick<Clock, 'runningMs' | 'steadyMs'>
  /** Of each guess at the passphrase; of new wallets and new passphrases. */
  cost?: HeaderCost
}

export function openWallet(options: Options): WalletVault {
  const { repository, places, events, note, now, clock = createEvenClock(now), cost = fullCost } = options
  const { removal = (_, remove) => remove() } = options
  repository.deriveIds()
  const notes = walletNotes({ note, events })
  const secrets = walletSecrets({ places, now: clock.runningMs, cost })
  const settings = walletSettings(repository)
  const state = walletState({ repository, places, secrets, settings })
  const door = walletDoor({ repository, secrets, settings, state, notes, now: clock.steadyMs })
  const mended = mendedWallet({ repository, secrets, settings, door, notes, now })

  return {
    ...addedSecrets({ repository, secrets, state, door, notes, now }),
    ...shownSecrets({ repository, door, notes, now }),
    ...removedSecrets({ repository, secrets, settings, door, mended, notes, removal }),
    ...walletLabels({ repository, settings, door, notes, now }),
    ...signingKeys({ repository, settings, state, door }),

    async status() {
      const unlocked = door.isOpen()
      const broken = door.broken()
      if (!unlocked) await door.inTurn(state.tidy)
      return state.status({ unlocked: door.isOpen(), broken })
    },
    unlock(passphrase) {
      const isWanted = door.sinceNow()
      return door.withPassphrase(passphrase, async (opened) => {
        await mended.finishRemovals(opened)
        await mended.adoptSecrets(opened)
        if (!(await door.become(opened, isWanted))) throw locked('The wallet was locked while it was opening.')
        await mended.correctAddresses()
        notes.unlocked()
        notes.changed()
      })
    },
    lock: (why = 'person') => door.lock(why),
    onLocked: door.onLocked,
    canOpen: () =>
      door.inTurn(async () => {
        const store = places.current()
        return store !== undefined && secrets.canOpen(store)
      }),
    checkPassphrase: (passphrase) => door.withPassphrase(passphrase, async () => {}),
    changePassphrase: ({ from, to }) =>
      door.withPassphrase(from, async (opened) => {
        await secrets.rewrap(opened, to)
        notes.passphraseChanged()
      }),
    makePhrase: newPhrase,
    close: door.close,
  }
}
