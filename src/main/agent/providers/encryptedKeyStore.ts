import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { removeFile, replaceFile } from '#platform/files/replaceFile.ts'
import { seal, unseal } from '#platform/secrets/seal.ts'
import type { SecretStore } from '#platform/secrets/secretStore.ts'
import type { SecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { AppError } from '#shared/appError.ts'

/** Stores encrypted provider keys in the keychain or a file. Each key is bound to its slot. */
export type EncryptedKeyStore = {
  /** Returns the location of stored keys, or the location for new ones. */
  locate(): Promise<{ kind: 'keychain' | 'file'; name: string }>
  /** @throws AppError `wallet/keychain-locked`, `wallet/keychain-unavailable`, `provider-key/unreadable` */
  read(slot: string): Promise<string | undefined>
  /** @returns the storage used */
  write(slot: string, key: string): Promise<'keychain' | 'file'>
  /** @param last whether no entry remains */
  remove(slot: string, last: boolean): Promise<void>
}

type Options = {
  locator: SecretStoreLocator
  /**
   * File of the encryption key. It is stored beside the data, so it does not protect against anyone who can read both.
   */
  sealFile: string
}

const encryptionKeyBytes = 32

export function createEncryptedKeyStore({ locator, sealFile }: Options): EncryptedKeyStore {
  const about = (slot: string) => `provider key of ${slot}`
  const toLocation = ({ kind }: Pick<SecretStore, 'kind'>) => (kind === 'vault_file' ? 'file' : 'keychain')

  const sealingKey = async (): Promise<Buffer> => {
    const seal = await readEncryptionKey(sealFile)
    if (seal) return seal
    const fresh = randomBytes(encryptionKeyBytes)
    await replaceFile(sealFile, `${fresh.toString('base64')}\n`)
    return fresh
  }

  return {
    async locate() {
      const backend = await locator.backend()
      return { kind: toLocation(backend), name: backend.name }
    },
    async read(slot) {
      const sealed = await locator.current()?.read(slot)
      if (sealed === undefined) return undefined
      const key = await readEncryptionKey(sealFile)
      const plain = key && unseal(key, sealed, about(slot))
      if (!plain)
        throw new AppError(
          'provider-key/unreadable',
          'The stored key cannot be decrypted: one of its files was changed or deleted.',
        )
      const text = plain.toString('utf8')
      plain.fill(0)
      return text
    },
    async write(slot, key) {
      const store = locator.current() ?? (await locator.claim())
      const plain = Buffer.from(key)
      try {
        await store.write(slot, seal(await sealingKey(), plain, about(slot)))
      } finally {
        plain.fill(0)
      }
      return toLocation(store)
    },
    async remove(slot, last) {
      await locator.current()?.remove(slot)
      if (!last) return
      await locator.release()
      await removeFile(sealFile)
    },
  }
}

function createUnreadableError(message: string, cause?: unknown): AppError {
  return new AppError('provider-key/unreadable', message, { cause })
}

/** @throws AppError `provider-key/unreadable` instead of creating another key, which could not decrypt anything */
async function readEncryptionKey(file: string): Promise<Buffer | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw createUnreadableError(`${file} cannot be read.`, cause)
  }
  const key = Buffer.from(text.trim(), 'base64')
  return key.length === encryptionKeyBytes ? key : undefined
}
