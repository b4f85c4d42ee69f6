import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import { type Providers, providerKeyLimits, type StoredKey } from '#shared/contract/providers.ts'
import { toIsoTime } from '#shared/time.ts'
import type { EncryptedKeyStore } from './encryptedKeyStore.ts'
import type { KeyRow, ProviderKeyRepository } from './providerKeyRepository.ts'

/**
 * Provider keys of the user by slot: a family or the id of a model server. They stay in memory, because a restarting
 * service needs them immediately, even if the keychain is unavailable.
 */
export type ProviderKeyStore = {
  findKey(slot: string): string | undefined
  about(slot: string): StoredKey | null
  /** @throws AppError `provider-key/invalid`, `wallet/keychain-locked`, `wallet/keychain-unavailable` */
  store(slot: string, key: string, checked?: (parse: string) => string): Promise<void>
  /**
   * @returns whether a key was removed
   * @throws AppError same as `store`
   */
  remove(slot: string): Promise<boolean>
  /** Retries reading keys that could not be read, and calls `onRead` for each. */
  readAgain(): Promise<void>
  storage(): Promise<Providers['storage']>
}

type Options = {
  sealed: EncryptedKeyStore
  repository: ProviderKeyRepository
  /** Called when a key was read later, or could not be read. */
  onRead(slot: string): void
  now: () => number
}

const visibleCharacters = 4
/** Minimum length of a key whose last characters are displayed. */
const minVisible = 16

const storageDescriptions = {
  keychain:
    'Keys are encrypted in the keychain of your system. Other programs that you run may be able to read them there.',
  file: 'Keys are in an encrypted file, because no system keychain is used. The key to that file is stored next to it, so anyone who can read your files can read your keys.',
} as const

export function createProviderKeyStore({ sealed, repository, onRead, now }: Options): ProviderKeyStore {
  const runExclusive = createSerialQueue()
  const rows = new Map(repository.all().map((row) => [row.slot, row]))
  const keys = new Map<string, string>()
  const faults = new Map<string, string>()

  const read = async ({ slot }: KeyRow): Promise<void> => {
    try {
      const key = await sealed.read(slot)
      if (key === undefined) throw new AppError('provider-key/unreadable', 'The stored key is missing.')
      keys.set(slot, key)
      faults.delete(slot)
    } catch (error) {
      faults.set(slot, error instanceof AppError ? error.message : 'The key cannot be read.')
    }
    onRead(slot)
  }

  return {
    findKey: (slot) => keys.get(slot),
    about(slot) {
      const row = rows.get(slot)
      if (!row) return null
      const { location: place, endsWith, setAtMs } = row
      return { place, ends_with: endsWith, set_at: toIsoTime(setAtMs), fault: faults.get(slot) ?? null }
    },
    store: (slot, value, checked = validateKey) =>
      runExclusive(async () => {
        const key = checked(value)
        const location = await sealed.write(slot, key)
        const endsWith = key.length < minVisible ? null : key.slice(-visibleCharacters)
        const row = { slot, location, endsWith, setAtMs: now() }
        repository.put(row)
        rows.set(slot, row)
        keys.set(slot, key)
        faults.delete(slot)
      }),
    remove: (slot) =>
      runExclusive(async () => {
        if (!rows.has(slot)) return false
        await sealed.remove(slot, rows.size === 1)
        repository.remove(slot)
        for (const collection of [rows, keys, faults]) collection.delete(slot)
        return true
      }),
    readAgain: () =>
      runExclusive(async () => {
        for (const row of rows.values()) if (!keys.has(row.slot)) await read(row)
      }),
    async storage() {
      const { kind, name } = await sealed.locate()
      return { kind, name, detail: storageDescriptions[kind] }
    },
  }
}

/** @throws AppError `provider-key/invalid`; the error never contains the input */
export function validateKey(value: string): string {
  const key = value.trim()
  const { minCharacters, maxCharacters } = providerKeyLimits
  if (key === '') throw new AppError('provider-key/invalid', 'Enter a key.')
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new AppError('provider-key/invalid', 'A key has no spaces, line breaks or special characters.')
  }
  if (key.length < minCharacters || key.length > maxCharacters) {
    throw new AppError('provider-key/invalid', `A key has ${minCharacters} to ${maxCharacters} characters.`)
  }
  return key
}
