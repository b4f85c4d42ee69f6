import { seal, unseal } from '#platform/secrets/seal.ts'
import { deriveAccountKey } from './walletAccounts.ts'
import type { AccountRow } from './walletRepository.ts'
import { openSecret, type Secret } from './walletSecrets.ts'

/** Encrypted texts by keyring id; undefined if missing in the store. */
type SealedTexts = ReadonlyMap<string, string | undefined>

type UnlockedState = {
  dataKey: Buffer
  secrets: SealedTexts
  /** Cached account keys by account id, because deriving a key from a phrase is slow. */
  keys: Map<string, string>
}

const keyAbout = ({ id }: AccountRow): string => `steward-wallet/1 key of ${id}`

/**
 * Creates the memory of an unlocked wallet. One buffer has the data key, and all other secrets are encrypted with it.
 */
export function createUnlockedKeyCache() {
  let unlocked: UnlockedState | undefined

  const secret = (keyringId: string): Secret | undefined => {
    const text = unlocked?.secrets.get(keyringId)
    return unlocked && text !== undefined ? openSecret(unlocked.dataKey, keyringId, text) : undefined
  }

  return {
    isUnlocked: (): boolean => unlocked !== undefined,
    /** Replaces the previous content atomically. Copies the data key. */
    fill(dataKey: Buffer, secrets: SealedTexts): void {
      unlocked?.dataKey.fill(0)
      unlocked = { dataKey: Buffer.from(dataKey), secrets, keys: new Map() }
    },
    /** @returns whether the wallet was unlocked */
    forget(): boolean {
      const was = unlocked
      was?.dataKey.fill(0)
      unlocked = undefined
      return was !== undefined
    },
    /** Removes the secret of a removed keyring. */
    drop(keyringId: string): void {
      if (!unlocked) return
      const { dataKey, secrets } = unlocked
      unlocked = { dataKey, secrets: new Map([...secrets].filter(([id]) => id !== keyringId)), keys: new Map() }
    },
    /** Returns undefined if missing or modified. The caller must overwrite the bytes. */
    secret,
    /**
     * Returns the signing key of an account, 32 bytes, or undefined if unavailable or locked. The caller must overwrite
     * it.
     */
    async key(account: AccountRow): Promise<Uint8Array | undefined> {
      const cachedKey = unlocked?.keys.get(account.id)
      if (unlocked && cachedKey !== undefined) return toBytes(unseal(unlocked.dataKey, cachedKey, keyAbout(account)))
      const from = unlocked
      const ownSecret = secret(account.keyring_id)
      if (!ownSecret) return undefined
      try {
        const key = await deriveAccountKey(ownSecret, account.chain_type, account.path)
        if (!unlocked) key.fill(0)
        else if (unlocked === from) unlocked.keys.set(account.id, seal(unlocked.dataKey, key, keyAbout(account)))
        return unlocked && key
      } finally {
        ownSecret.bytes.fill(0)
      }
    },
    /** Returns the keyrings whose secret is missing or modified. */
    broken: (): string[] =>
      [...(unlocked?.secrets.keys() ?? [])].filter((id) => {
        const ownSecret = secret(id)
        ownSecret?.bytes.fill(0)
        return ownSecret === undefined
      }),
  }
}
export type UnlockedKeyCache = ReturnType<typeof createUnlockedKeyCache>

/** Returns bytes that share the memory. */
function toBytes(plain: Buffer | undefined): Uint8Array | undefined {
  return plain && new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength)
}
