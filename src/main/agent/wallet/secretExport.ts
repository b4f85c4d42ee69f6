import { AppError } from '#shared/appError.ts'
import { makeKeystore, toKeystoreName } from './keystoreFile.ts'
import { requireStrong } from './passphrases.ts'
import { toPhrase } from './recoveryPhrase.ts'
import { deriveAccountKey } from './walletAccounts.ts'
import type { WalletActivity } from './walletActivity.ts'
import { createDamagedSecretError, type WalletLock } from './walletLock.ts'
import { requireAccount, requireKeyring, type WalletRepository } from './walletRepository.ts'
import { openSecret, type Secret, type UnlockedSecrets } from './walletSecrets.ts'
import type { WalletVault } from './walletVault.ts'

type Options = {
  repository: WalletRepository
  walletLock: Pick<WalletLock, 'withPassphrase'>
  activity: Pick<WalletActivity, 'recordRevealed' | 'recordExported'>
  now: () => number
}

/** Creates the operations that export secrets. They require the passphrase. */
export function createSecretExport({
  repository,
  walletLock,
  activity,
  now,
}: Options): Pick<WalletVault, 'revealPhrase' | 'exportKeystore'> {
  const readSecret = async ({ store, dataKey }: UnlockedSecrets, id: string): Promise<Secret> => {
    const text = await store.read(id)
    const secret = text === undefined ? undefined : openSecret(dataKey, id, text)
    if (secret) return secret
    throw createDamagedSecretError(requireKeyring(repository, id).label)
  }

  return {
    revealPhrase: (id, passphrase) =>
      walletLock.withPassphrase(passphrase, async (opened) => {
        const keyring = requireKeyring(repository, id)
        if (keyring.kind !== 'phrase') {
          throw new AppError('request/invalid', `“${keyring.label}” is a private key and has no recovery phrase.`)
        }
        const secret = await readSecret(opened, id)
        try {
          const phrase = await toPhrase(secret.bytes)
          activity.recordRevealed(keyring)
          return phrase
        } finally {
          secret.bytes.fill(0)
        }
      }),
    exportKeystore: (id, { passphrase, password }) =>
      walletLock.withPassphrase(passphrase, async (opened) => {
        const account = requireAccount(repository, id)
        const { chain_type: chainType, address, keyring_id: keyringId, path, label } = account
        if (chainType !== 'evm') {
          throw new AppError(
            'request/invalid',
            `“${label}” is a Solana account. Only EVM accounts can be exported as a keystore file.`,
          )
        }
        requireStrong(password)
        const secret = await readSecret(opened, keyringId)
        const key = await deriveAccountKey(secret, chainType, path)
        try {
          const json = await makeKeystore(key, { password, address })
          activity.recordExported(account)
          return { fileName: toKeystoreName(address, now()), json }
        } finally {
          key.fill(0)
          secret.bytes.fill(0)
        }
      }),
  }
}
