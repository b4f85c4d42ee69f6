import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { seal, unseal } from '#platform/secrets/seal.ts'
import type { SecretStore } from '#platform/secrets/secretStore.ts'
import type { SecretStoreLocator } from '#platform/secrets/secretStoreLocator.ts'
import { AppError } from '#shared/appError.ts'
import { createPassphraseAttempts, requireStrong } from './passphrases.ts'
import {
  createDataKey,
  type HeaderCost,
  maxKeyrings,
  parseHeader,
  unwrapDataKey,
  type VaultHeader,
  withNames,
  wrapDataKey,
} from './vaultHeader.ts'

/** Kind of a secret: the entropy of a phrase, or a private key of a chain. */
export type SecretKind = 'phrase' | 'evm' | 'solana'
export type Secret = { kind: SecretKind; bytes: Buffer }

/** Secrets unlocked with a passphrase. The caller must overwrite `dataKey`. */
export type UnlockedSecrets = { store: SecretStore; header: VaultHeader; dataKey: Buffer }

const headerName = 'header'
const Entry = z.strictObject({
  version: z.literal(1),
  kind: z.enum(['phrase', 'evm', 'solana']),
  sealed: z.string().max(500),
})
const entryAbout = (name: string, kind: SecretKind): string => `steward-wallet/1 secret ${name} ${kind}`

/** Creates the access to the encrypted secrets in their store, by keyring id. */
export function createWalletSecrets({
  locator,
  now,
  cost,
}: {
  locator: SecretStoreLocator
  now: () => number
  cost: HeaderCost
}) {
  const attempts = createPassphraseAttempts(now)

  const readHeader = async (store: SecretStore): Promise<VaultHeader | undefined> => {
    const text = await store.read(headerName)
    return text === undefined ? undefined : parseHeader(text)
  }
  const writeHeader = (store: SecretStore, header: VaultHeader): Promise<void> =>
    store.write(headerName, JSON.stringify(header))

  const open = async (passphrase: string): Promise<UnlockedSecrets | undefined> => {
    attempts.check()
    const store = locator.current()
    const header = store && (await readHeader(store))
    if (!store || !header) return undefined
    try {
      const dataKey = await unwrapDataKey(header, passphrase)
      attempts.right()
      return { store, header, dataKey }
    } catch (error) {
      if (error instanceof AppError && error.code === 'wallet/passphrase') attempts.wrong()
      throw error
    }
  }

  /**
   * Stores the names in the header before the secrets. An unused name is harmless, but an unlisted secret would be
   * lost.
   */
  const list = async (opened: UnlockedSecrets, names: readonly string[]): Promise<void> => {
    if (names.length > maxKeyrings) {
      throw new AppError('wallet/failed', `A wallet can hold at most ${maxKeyrings} phrases and keys.`)
    }
    const header = withNames(opened.header, opened.dataKey, names)
    await writeHeader(opened.store, header)
    opened.header = header
  }

  return {
    /**
     * Returns undefined if there is no wallet.
     * @throws AppError `wallet/passphrase`, `request/rate`, `wallet/damaged`
     */
    open,
    /** Creates a new wallet. @throws AppError `wallet/passphrase-weak` */
    async begin(passphrase: string): Promise<UnlockedSecrets> {
      requireStrong(passphrase)
      const store = await locator.claim()
      const dataKey = createDataKey()
      return { store, header: await wrapDataKey({ dataKey, passphrase, names: [], cost }), dataKey }
    },
    list,
    async put(opened: UnlockedSecrets, name: string, { kind, bytes }: Secret): Promise<void> {
      const { names } = opened.header
      await list(opened, names.includes(name) ? names : [...names, name])
      const sealed = seal(opened.dataKey, bytes, entryAbout(name, kind))
      await opened.store.write(name, JSON.stringify({ version: 1, kind, sealed }))
    },
    async drop(opened: UnlockedSecrets, name: string): Promise<void> {
      await opened.store.remove(name)
      await list(
        opened,
        opened.header.names.filter((it) => it !== name),
      )
    },
    async rewrap(opened: UnlockedSecrets, passphrase: string): Promise<void> {
      requireStrong(passphrase)
      const header = await wrapDataKey({ dataKey: opened.dataKey, passphrase, names: opened.header.names, cost })
      await writeHeader(opened.store, header)
      opened.header = header
    },
    /** Whether the store has a vault header. @throws AppError `wallet/damaged` */
    canOpen: async (store: SecretStore): Promise<boolean> => (await readHeader(store)) !== undefined,
    /** Returns the names of stored secrets without decrypting them, or undefined if the store has no vault header. */
    async present(store: SecretStore): Promise<string[] | undefined> {
      const header = await readHeader(store)
      if (!header) return undefined
      const names: string[] = []
      for (const name of header.names) if ((await store.read(name)) !== undefined) names.push(name)
      return names
    },
    /** Removes the header. Must be called only after all secrets were removed. */
    async end(store: SecretStore): Promise<void> {
      await store.remove(headerName)
      await locator.release()
    },
  }
}
export type WalletSecrets = ReturnType<typeof createWalletSecrets>

/** Decrypts a secret, which the caller must overwrite. @returns undefined if it was modified */
export function openSecret(dataKey: Buffer, name: string, text: string): Secret | undefined {
  const entry = Entry.safeParse(parseJsonOrUndefined(text))
  if (!entry.success) return undefined
  const { kind, sealed } = entry.data
  const bytes = unseal(dataKey, sealed, entryAbout(name, kind))
  return bytes && { kind, bytes }
}

/** Whether a secret is stored and unmodified. */
export async function isWhole({ store, dataKey }: UnlockedSecrets, name: string): Promise<boolean> {
  const text = await store.read(name)
  const secret = text === undefined ? undefined : openSecret(dataKey, name, text)
  secret?.bytes.fill(0)
  return secret !== undefined
}
