import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '#shared/appError.ts'
import type { WalletBackend } from '#shared/contract/wallet.ts'
import { removeFile, replaceFile } from '../files/replaceFile.ts'
import { parseJsonOrUndefined } from '../parsing/parseJsonOrUndefined.ts'
import { createKeychainSecretStore } from './keychainSecretStore.ts'
import { backendNames, type SecretStore } from './secretStore.ts'
import { createVaultFileSecretStore } from './vaultFileSecretStore.ts'

type Options = {
  /** Folder of the vault file, or of the pointer with the scope name in the keychain. */
  folder: string
  setting: 'auto' | 'vault_file'
  keychain?: (scopeName: string) => SecretStore
  vaultFile?: (file: string) => SecretStore
}

/** Locator of the store for one group of secrets, which stay in their store even if another one becomes available. */
export type SecretStoreLocator = {
  /**
   * Returns the claimed store, or undefined if the folder has none.
   * @throws AppError `wallet/damaged`
   */
  current(): SecretStore | undefined
  /** Returns the backend of the claimed store, or the backend that `claim` would select. */
  backend(): Promise<WalletBackend>
  /**
   * Selects and records the store of new secrets: the keychain if it works, otherwise the vault file. Each claim has
   * its own scope name in the keychain, so that a late write for earlier secrets is not mistaken for these.
   */
  claim(): Promise<SecretStore>
  /** Removes the record of the store. Called after the last secret was removed. */
  release(): Promise<void>
}

const Pointer = z.strictObject({ version: z.literal(1), keychain_scope: z.string().regex(/^[0-9a-f]{16}$/) })
const probe = { name: 'probe', value: 'Test entry that Steward wrote to check this keychain.' } as const

const createSystemKeychain = (scopeName: string): SecretStore =>
  createKeychainSecretStore({ scopeName, platform: process.platform })

export function createSecretStoreLocator({
  folder,
  setting,
  keychain = createSystemKeychain,
  vaultFile = (file) => createVaultFileSecretStore({ file }),
}: Options): SecretStoreLocator {
  const pointerFile = join(folder, 'keychain.json')
  const file = join(folder, 'vault.json')
  const vault = vaultFile(file)
  let cached: { scopeName: string; store: SecretStore } | undefined

  const getKeychain = (scopeName: string): SecretStore => {
    if (cached?.scopeName !== scopeName) cached = { scopeName, store: keychain(scopeName) }
    return cached.store
  }
  const current = (): SecretStore | undefined => {
    if (existsSync(pointerFile)) return getKeychain(readPointer(pointerFile))
    return existsSync(file) ? vault : undefined
  }

  return {
    current,
    async backend() {
      const created = current()
      if (created) return toBackend(created)
      if (setting === 'vault_file') return toBackend(vault)
      const candidate = getKeychain('none')
      const fault = await candidate.fault()
      if (fault === undefined) return toBackend(candidate)
      return { ...toBackend(vault), detail: `${fault} Steward will store the encrypted secrets in ${file}.` }
    },
    async claim() {
      const created = current()
      if (created === vault || (!created && setting === 'vault_file')) return vault
      const scopeName = randomBytes(8).toString('hex')
      const candidate = getKeychain(scopeName)
      try {
        await candidate.write(probe.name, probe.value)
        await candidate.remove(probe.name)
      } catch (error) {
        if (!created && error instanceof AppError && error.code === 'wallet/keychain-unavailable') return vault
        throw error
      }
      await replaceFile(pointerFile, `${JSON.stringify({ version: 1, keychain_scope: scopeName })}\n`)
      return candidate
    },
    release: () => removeFile(pointerFile),
  }
}

function readPointer(file: string): string {
  const pointer = Pointer.safeParse(parseJsonOrUndefined(readFileSync(file, 'utf8')))
  if (pointer.success) return pointer.data.keychain_scope
  throw new AppError('wallet/damaged', `${file}, which identifies this wallet in the keychain, was changed.`)
}

function toBackend({ kind, detail }: SecretStore): WalletBackend {
  return { kind, name: backendNames[kind], detail }
}
