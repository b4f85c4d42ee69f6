import { AppError } from '#shared/appError.ts'
import { deriveNextAccount, insertAccount } from './walletAccounts.ts'
import type { WalletDoor } from './walletLock.ts'
import type { WalletNotes } from './walletNotes.ts'
import { requireAccount, requireKeyring, type WalletRepository } from './walletRepository.ts'
import type { WalletSettings } from './walletSettings.ts'
import type { WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  settings: Pick<WalletSettings, 'setDefault' | 'setAutoLockMinutes'>
  door: Pick<WalletDoor, 'inTurn' | 'secret' | 'checkUnused'>
  notes: Pick<WalletNotes, 'publishChanged' | 'accountAdded'>
  now: () => number
}
type Labels = Pick<
  WalletVault,
  'markWrittenDown' | 'addAccount' | 'renameAccount' | 'renameKeyring' | 'setDefault' | 'setAutoLock'
>

/** Creates the operations that change labels and add accounts. They require no secret from the user. */
export function createWalletLabels({ repository, settings, door, notes, now }: Options): Labels {
  return {
    markWrittenDown(id) {
      if (!repository.markWrittenDown(id)) requireKeyring(repository, id)
      notes.publishChanged()
    },
    addAccount: ({ keyringId, chainType, label }) =>
      door.inTurn(async () => {
        const keyring = requireKeyring(repository, keyringId)
        if (keyring.kind !== 'phrase') {
          throw new AppError('request/invalid', `“${keyring.label}” is one private key with one account.`)
        }
        const secret = door.secret(keyringId)
        try {
          const account = await deriveNextAccount(secret, chainType, { keyringId, accounts: repository.accounts() })
          insertAccount(repository, { keyringId, derived: account, label, atMs: now() })
          notes.accountAdded(keyring, account.address)
        } finally {
          secret.bytes.fill(0)
        }
        notes.publishChanged()
      }),
    renameAccount(id, label) {
      if (!repository.renameAccount(id, label)) requireAccount(repository, id)
      notes.publishChanged()
    },
    renameKeyring(id, label) {
      if (!repository.renameKeyring(id, label)) requireKeyring(repository, id)
      notes.publishChanged()
    },
    setDefault(id) {
      settings.setDefault(requireAccount(repository, id).chain_type, id)
      notes.publishChanged()
    },
    setAutoLock(minutes) {
      settings.setAutoLockMinutes(minutes)
      door.checkUnused()
      notes.publishChanged()
    },
  }
}
