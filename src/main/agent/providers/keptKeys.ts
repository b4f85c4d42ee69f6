import { serialQueue } from '#platform/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import { type KeptKey, type Providers, providerKeyLimits } from '#shared/contract/providers.ts'
import { isoTime } from '#shared/time.ts'
import type { KeyRow, ProviderKeyRepository } from './providerKeyRepository.ts'
import type { SealedKeys } from './sealedKeys.ts'

/**
 * The keys that a person gave, by slot: a family, or the id of a model server. They are held in memory while Steward
 * runs, because a service that starts again needs them at once, whatever the keychain says then.
 */
export type KeptKeys = {
  held(slot: string): string | undefined
  about(slot: string): KeptKey | null
  /** @throws AppError `provider-key/invalid`, `wallet/keychain-locked`, `wallet/keychain-unavailable` */
  put(slot: string, key: string, checked?: (given: string) => string): Promise<void>
  /** @returns whether there was one. @throws AppError as `put` */
  remove(slot: string): Promise<boolean>
  /** Reads what could not be read. `onRead` tells of each. */
  readAgain(): Promise<void>
  storage(): Promise<Providers['storage']>
}

type Options = {
  sealed: SealedKeys
  repository: ProviderKeyRepository
  /** A key became known by being read, or could not be. */
  onRead(slot: string): void
  now: () => number
}

const shownCharacters = 4
/** Of shorter ones, four characters would be too much. */
const leastShown = 16

const worth = {
  keychain:
    'Keys are encrypted in the keychain of your system. Other programs that you run may be able to read them there.',
  file: 'Keys are in an encrypted file, because no system keychain is used. What opens that file is stored next to it, so anyone who can read your files can read your keys.',
} as const

export function keptKeys({ sealed, repository, onRead, now }: Options): KeptKeys {
  const inTurn = serialQueue()
  const rows = new Map(repository.all().map((row) => [row.slot, row]))
  const keys = new Map<string, string>()
  const faults = new Map<string, string>()

  const read = async ({ slot }: KeyRow): Promise<void> => {
    try {
      const key = await sealed.read(slot)
      if (key === undefined)
        throw new AppError('provider-key/unreadable', 'The key is no longer where Steward kept it.')
      keys.set(slot, key)
      faults.delete(slot)
    } catch (failure) {
      faults.set(slot, failure instanceof AppError ? failure.message : 'The key cannot be read.')
    }
    onRead(slot)
  }

  return {
    held: (slot) => keys.get(slot),
    about(slot) {
      const row = rows.get(slot)
      if (!row) return null
      const { place, endsWith, setAtMs } = row
      return { place, ends_with: endsWith, set_at: isoTime(setAtMs), fault: faults.get(slot) ?? null }
    },
    put: (slot, given, checked = checkedKey) =>
      inTurn(async () => {
        const key = checked(given)
        const place = await sealed.write(slot, key)
        const endsWith = key.length < leastShown ? null : key.slice(-shownCharacters)
        const row = { slot, place, endsWith, setAtMs: now() }
        repository.put(row)
        rows.set(slot, row)
        keys.set(slot, key)
        faults.delete(slot)
      }),
    remove: (slot) =>
      inTurn(async () => {
        if (!rows.has(slot)) return false
        await sealed.remove(slot, rows.size === 1)
        repository.remove(slot)
        for (const held of [rows, keys, faults]) held.delete(slot)
        return true
      }),
    readAgain: () =>
      inTurn(async () => {
        for (const row of rows.values()) if (!keys.has(row.slot)) await read(row)
      }),
    async storage() {
      const { kind, name } = await sealed.place()
      return { kind, name, detail: worth[kind] }
    },
  }
}

/** @throws AppError `provider-key/invalid`, which never holds what was given */
export function checkedKey(given: string): string {
  const key = given.trim()
  const { leastCharacters, mostCharacters } = providerKeyLimits
  if (key === '') throw new AppError('provider-key/invalid', 'Enter a key.')
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new AppError('provider-key/invalid', 'A key has no spaces, line breaks or special characters.')
  }
  if (key.length < leastCharacters || key.length > mostCharacters) {
    throw new AppError('provider-key/invalid', `A key has ${leastCharacters} to ${mostCharacters} characters.`)
  }
  return key
}
