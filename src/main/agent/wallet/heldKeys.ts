import { seal, unseal } from '#platform/seal.ts'
import { accountKey } from './walletAccounts.ts'
import type { AccountRow } from './walletRepository.ts'
import { openSecret, type Secret } from './walletSecrets.ts'

/** Sealed texts by the id of their keyring; undefined where the store had none. */
type SealedTexts = ReadonlyMap<string, string | undefined>

type Held = {
  dataKey: Buffer
  secrets: SealedTexts
  /** Keys of accounts that signed before: a phrase takes long to derive one. By the id of the account. */
  keys: Map<string, string>
}

const keyAbout = ({ id }: AccountRow): string => `steward-wallet/1 key of ${id}`

/** What is in memory while the wallet is open: one data key in one buffer, and nothing else that is not sealed with it. */
export function heldKeys() {
  let held: Held | undefined

  const secret = (keyringId: string): Secret | undefined => {
    const text = held?.secrets.get(keyringId)
    return held && text !== undefined ? openSecret(held.dataKey, keyringId, text) : undefined
  }

  return {
    isHeld: (): boolean => held !== undefined,
    /** In one step, in place of what was held. The data key is copied. */
    hold(dataKey: Buffer, secrets: SealedTexts): void {
      held?.dataKey.fill(0)
      held = { dataKey: Buffer.from(dataKey), secrets, keys: new Map() }
    },
    /** @returns whether anything was held */
    forget(): boolean {
      const was = held
      was?.dataKey.fill(0)
      held = undefined
      return was !== undefined
    },
    /** The keyring was removed. */
    drop(keyringId: string): void {
      if (!held) return
      const { dataKey, secrets } = held
      held = { dataKey, secrets: new Map([...secrets].filter(([id]) => id !== keyringId)), keys: new Map() }
    },
    /** Undefined when it is missing or was changed. Whoever gets the bytes overwrites them. */
    secret,
    /** The 32 bytes that sign for an account; undefined when they are not here, or no longer. Whoever gets them overwrites them. */
    async key(account: AccountRow): Promise<Uint8Array | undefined> {
      const kept = held?.keys.get(account.id)
      if (held && kept !== undefined) return bytesOf(unseal(held.dataKey, kept, keyAbout(account)))
      const from = held
      const own = secret(account.keyring_id)
      if (!own) return undefined
      try {
        const key = await accountKey(own, account.chain_type, account.path)
        if (!held) key.fill(0)
        else if (held === from) held.keys.set(account.id, seal(held.dataKey, key, keyAbout(account)))
        return held && key
      } finally {
        own.bytes.fill(0)
      }
    },
    /** The keyrings whose secret is missing or was changed. */
    broken: (): string[] =>
      [...(held?.secrets.keys() ?? [])].filter((id) => {
        const own = secret(id)
        own?.bytes.fill(0)
        return own === undefined
      }),
  }
}
export type HeldKeys = ReturnType<typeof heldKeys>

/** The same memory, as whoever signs takes it. */
function bytesOf(plain: Buffer | undefined): Uint8Array | undefined {
  return plain && new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength)
}
