import { join } from 'node:path'
import { type WalletPlaces, walletPlaces } from './agent/wallet/walletPlaces.ts'
import type { Config } from './config.ts'
import { keychainSecretStore } from './platform/keychainSecretStore.ts'
import { vaultFileSecretStore } from './platform/vaultFileSecretStore.ts'

/** Where the secrets of a data folder are, or would be. */
export function secretPlaces({ dataFolder, config }: { dataFolder: string; config: Config }): WalletPlaces {
  return walletPlaces({
    folder: join(dataFolder, 'wallet'),
    setting: config.wallet.secret_store,
    keychain: (scopeName) => keychainSecretStore({ scopeName, platform: process.platform }),
    vaultFile: (file) => vaultFileSecretStore({ file }),
  })
}
