import { AppError } from '../../../shared/appError.ts'
import { keystoreName, makeKeystore } from './keystoreFile.ts'
import { requireStrong } from './passphrases.ts'
import { phraseOf } from './recoveryPhrase.ts'
import { accountKey } from './walletAccounts.ts'
import { damaged } from './walletDoor.ts'
import { knownAccount, knownKeyring } from './walletRepository.ts'
import { type Opened, openSecret, type Secret } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'
import type { WalletVault } from './walletVault.ts'

/** What the wallet gives away, to whoever gives the passphrase. */
export function shownSecrets(tools: WalletTools): Pick<WalletVault, 'revealPhrase' | 'exportKeystore'> {
  const { repository, door, now, tell } = tools

  const readSecret = async ({ store, dataKey }: Opened, id: string): Promise<Secret> => {
    const text = await store.read(id)
    const secret = text === undefined ? undefined : openSecret(dataKey, id, text)
    if (secret) return secret
    throw damaged(knownKeyring(repository, id).label)
  }

  return {
    revealPhrase: (id, passphrase) =>
      door.withPassphrase(passphrase, async (opened) => {
        const { label, kind } = knownKeyring(repository, id)
        if (kind !== 'phrase') throw new AppError('request/invalid', `“${label}” is a private key and has no phrase.`)
        const secret = await readSecret(opened, id)
        try {
          const phrase = await phraseOf(secret.bytes)
          tell('wallet.revealed', `The phrase “${label}” was shown.`, id)
          return phrase
        } finally {
          secret.bytes.fill(0)
        }
      }),
    exportKeystore: (id, { passphrase, password }) =>
      door.withPassphrase(passphrase, async (opened) => {
        const account = knownAccount(repository, id)
        const { chain_type: chainType, address, keyring_id: keyringId, path, label } = account
        if (chainType !== 'evm') {
          throw new AppError('request/invalid', `“${label}” is an account of Solana: Keystore V3 is for EVM accounts.`)
        }
        requireStrong(password, 'password')
        const secret = await readSecret(opened, keyringId)
        const key = await accountKey(secret, chainType, path)
        try {
          const json = await makeKeystore(key, { password, address })
          tell('wallet.exported', `${address} was exported as a keystore file.`, id)
          return { fileName: keystoreName(address, now()), json }
        } finally {
          key.fill(0)
          secret.bytes.fill(0)
        }
      }),
  }
}
