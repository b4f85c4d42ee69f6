import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { removeFile, replaceFile } from '#platform/files/replaceFile.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { backendNames, type SecretStore } from '#platform/secrets/secretStore.ts'
import { AppError } from '#shared/appError.ts'
import type { WalletBackend } from '#shared/contract/wallet.ts'

type Options = {
  /** Folder of the vault file, or of the pointer with the wallet's name in the keychain. */
  folder: string
  setting: 'auto' | 'vault_file'
  keychain: (scopeName: string) => SecretStore
  vaultFile: (file: string) => SecretStore
}

/** Locator of the secret store. A wallet stays in its store even if another one becomes available. */
export type SecretStoreLocator = {
  /**
   * Returns the store of the wallet, or undefined if no wallet was created in this folder.
   * @throws AppError `wallet/damaged`
   */
  current(): SecretStore | undefined
  /** Returns the backend of the wallet, or the backend for a new wallet. */
  backend(): Promise<WalletBackend>
  /**
   * Selects and records the store of a new wallet: the keychain if it works, otherwise the vault file. Keychain names
   * are unique per wallet, so that a late write for an earlier wallet is not mistaken for this one.
   */
  claim(): Promise<SecretStore>
  /** Removes the record of the store. Called after the last secret was removed. */
  release(): Promise<void>
}

const Pointer = z.strictObject({ version: z.literal(1), keychain_scope: z.string().regex(/^[0-9a-f]{16}$/) })
const probe = { name: 'probe', value: 'Test entry that Steward wrote to check this keychain.' } as const

export function createSecretStoreLocator({ folder, setting, keychain, vaultFile }: Options): SecretStoreLocator {
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
