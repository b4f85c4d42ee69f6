import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { keychainSecretStore } from '#platform/keychainSecretStore.ts'
import type { SecretStore } from '#platform/secretStore.ts'
import { vaultFileSecretStore } from '#platform/vaultFileSecretStore.ts'
import { type WalletPlaces, walletPlaces } from './walletPlaces.ts'

type Places = { dataFolder: string; config: Config; keychain?: (scopeName: string) => SecretStore }

const systemKeychain = (scopeName: string): SecretStore =>
  keychainSecretStore({ scopeName, platform: process.platform })

/** Where the secrets of a data folder are, or would be. */
export function secretPlaces({ dataFolder, config, keychain = systemKeychain }: Places): WalletPlaces {
  return walletPlaces({
    folder: join(dataFolder, 'wallet'),
    setting: config.wallet.secret_store,
    keychain,
    vaultFile: (file) => vaultFileSecretStore({ file }),
  })
}
