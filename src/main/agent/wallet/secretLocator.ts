import { join } from 'node:path'
import type { Config } from '#config/config.ts'
import { createKeychainSecretStore } from '#platform/secrets/keychainSecretStore.ts'
import type { SecretStore } from '#platform/secrets/secretStore.ts'
import { createVaultFileSecretStore } from '#platform/secrets/vaultFileSecretStore.ts'
import { createSecretStoreLocator, type SecretStoreLocator } from './secretStoreLocator.ts'

type LocatorOptions = { dataFolder: string; config: Config; keychain?: (scopeName: string) => SecretStore }

const createSystemKeychain = (scopeName: string): SecretStore =>
  createKeychainSecretStore({ scopeName, platform: process.platform })

export function createSecretLocator({
  dataFolder,
  config,
  keychain = createSystemKeychain,
}: LocatorOptions): SecretStoreLocator {
  return createSecretStoreLocator({
    folder: join(dataFolder, 'wallet'),
    setting: config.wallet.secret_store,
    keychain,
    vaultFile: (file) => createVaultFileSecretStore({ file }),
  })
}
