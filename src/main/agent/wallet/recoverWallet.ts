import { type Keyring, KeyringId } from '#shared/contract/wallet.ts'
import { buildPath, parseIndex } from './derivation.ts'
import { readLength } from './recoveryPhrase.ts'
import {
  type DerivedAccount,
  deriveAccount,
  deriveFirstAccounts,
  findSameKeyring,
  insertKeyring,
  isSame,
} from './walletAccounts.ts'
import type { WalletActivity } from './walletActivity.ts'
import type { WalletLock } from './walletLock.ts'
import { type AccountRow, requireKeyring, type WalletRepository } from './walletRepository.ts'
import { isWhole, openSecret, type Secret, type UnlockedSecrets, type WalletSecrets } from './walletSecrets.ts'
import type { WalletSettings } from './walletSettings.ts'

export type WalletRecovery = {
  /** Completes an interrupted removal. */
  finishRemovals(opened: UnlockedSecrets): Promise<void>
  /**
   * Adopts secrets in the store that have no keyring in the database, because of a crash, a late keychain write or a
   * lost database. Skips secrets that were imported again.
   */
  adoptSecrets(opened: UnlockedSecrets): Promise<void>
  /**
   * Corrects stored addresses, based on the keys. The database is not encrypted, so a manipulated address would be
   * displayed as a receiving address. Requires an unlocked wallet.
   */
  correctAddresses(): Promise<void>
}

type Options = {
  repository: WalletRepository
  secrets: Pick<WalletSecrets, 'list' | 'put' | 'drop'>
  settings: Pick<WalletSettings, 'removing' | 'removed'>
  walletLock: Pick<WalletLock, 'broken' | 'secret'>
  activity: Pick<WalletActivity, 'recordRecovered' | 'addressCorrected'>
  now: () => number
}

/** Creates the repairs that run after an unlock, when the secrets are available. */
export function recoverWallet({ repository, secrets, settings, walletLock, activity, now }: Options): WalletRecovery {
  /** Returns the keyrings that contain any of these accounts. */
  const holders = (accounts: readonly DerivedAccount[]): string[] => {
    const rows = repository.accounts().filter((accountRow) => accounts.some((account) => isSame(accountRow, account)))
    return [...new Set(rows.map((it) => it.keyring_id))]
  }
  const adopt = async (opened: UnlockedSecrets, id: KeyringId, secret: Secret): Promise<'retained' | 'dropped'> => {
    const derived = await deriveFirstAccounts(secret)
    const accounts = repository.accounts()
    const missing = derived.filter((derivedAccount) => !accounts.some((it) => isSame(it, derivedAccount)))
    if (missing.length > 0) {
      insertKeyring(repository, { ...createAdopted(id, secret), derived: missing, atMs: now() })
      activity.recordRecovered(requireKeyring(repository, id))
      return 'retained'
    }
    const same = findSameKeyring(derived, accounts)
    if (same !== undefined && !(await isWhole(opened, same))) await secrets.put(opened, same, secret)
    for (const holder of holders(derived)) {
      if (!(await isWhole(opened, holder))) return 'retained' // may be the last copy
    }
    await secrets.drop(opened, id)
    return 'dropped'
  }

  return {
    async finishRemovals(opened) {
      for (const id of settings.removing()) {
        await secrets.drop(opened, id)
        settings.removed(id)
      }
    },
    async adoptSecrets(opened) {
      const rows = repository.keyrings().map((it) => it.id)
      const remaining = new Set(rows)
      for (const id of opened.header.names.filter((it) => !remaining.has(it))) {
        const text = await opened.store.read(id)
        if (text === undefined) continue
        const secret = openSecret(opened.dataKey, id, text)
        try {
          if (!secret || (await adopt(opened, KeyringId.parse(id), secret)) !== 'dropped') remaining.add(id)
        } finally {
          secret?.bytes.fill(0)
        }
      }
      const { names } = opened.header
      if (remaining.size !== names.length || rows.some((id) => !names.includes(id)))
        await secrets.list(opened, [...remaining])
    },
    async correctAddresses() {
      const broken = walletLock.broken()
      const wrong: { row: AccountRow; address: string }[] = []
      for (const row of repository.accounts().filter((it) => !broken.includes(it.keyring_id))) {
        const secret = walletLock.secret(row.keyring_id)
        try {
          const address = await deriveAddress(secret, row)
          if (address !== undefined && address !== row.address) wrong.push({ row, address })
        } finally {
          secret.bytes.fill(0)
        }
      }
      if (wrong.length === 0) return
      repository.correctAddresses(wrong.map(({ row, address }) => ({ id: row.id, address })))
      repository.deriveIds()
      for (const { row, address } of wrong) activity.addressCorrected(row, address)
    },
  }
}

function createAdopted(id: Keyring['id'], secret: Secret) {
  const words = secret.kind === 'phrase' ? readLength(secret.bytes) : null
  return { id, secret, words, writtenDown: secret.kind !== 'phrase', label: undefined }
}

/** Returns undefined if no account has this path, because a signature with it would be discarded. */
async function deriveAddress(secret: Secret, { chain_type, path }: AccountRow): Promise<string | undefined> {
  if (secret.kind === 'phrase' && (path === null || path !== buildPath(chain_type, parseIndex(chain_type, path))))
    return undefined
  return (await deriveAccount(secret, chain_type, path)).address
}
