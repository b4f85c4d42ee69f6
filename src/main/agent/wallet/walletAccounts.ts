import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import { deriveAccountId } from './accountIds.ts'
import { deriveAddress } from './addresses.ts'
import { buildPath, deriveKey, parseIndex } from './derivation.ts'
import { toSeed } from './recoveryPhrase.ts'
import type { AccountRow, KeyringRow, WalletRepository } from './walletRepository.ts'
import type { Secret } from './walletSecrets.ts'

export type DerivedAccount = { chainType: ChainType; address: string; path: string | null }

const chainTypes = ['evm', 'solana'] as const satisfies readonly ChainType[]

/** Derives the signing key of an account, 32 bytes. The caller must overwrite it. */
export async function deriveAccountKey(secret: Secret, chainType: ChainType, path: string | null): Promise<Uint8Array> {
  if (secret.kind !== 'phrase') return Uint8Array.from(secret.bytes)
  if (path === null) throw new Error('An account of a phrase has no path.')
  const seed = await toSeed(secret.bytes)
  try {
    return await deriveKey(seed, chainType, path)
  } finally {
    seed.fill(0)
  }
}

/** Derives the initial accounts of a secret; for a phrase, the first of each chain. */
export async function deriveFirstAccounts(secret: Secret): Promise<DerivedAccount[]> {
  if (secret.kind !== 'phrase') return [await deriveAccount(secret, secret.kind, null)]
  return Promise.all(chainTypes.map((chainType) => deriveAccount(secret, chainType, buildPath(chainType, 0))))
}

/** Derives the account after the last one of a phrase. Skips accounts that were imported separately. */
export async function deriveNextAccount(
  secret: Secret,
  chainType: ChainType,
  { keyringId, accounts }: { keyringId: string; accounts: readonly AccountRow[] },
): Promise<DerivedAccount> {
  const siblings = accounts.filter((account) => account.keyring_id === keyringId && account.chain_type === chainType)
  const last = Math.max(
    -1,
    ...siblings.map((sibling) => (sibling.path === null ? -1 : parseIndex(chainType, sibling.path))),
  )
  for (let index = last + 1; ; index += 1) {
    const next = await deriveAccount(secret, chainType, buildPath(chainType, index))
    if (!accounts.some((it) => isSame(it, next))) return next
  }
}

export async function deriveAccount(
  secret: Secret,
  chainType: ChainType,
  path: string | null,
): Promise<DerivedAccount> {
  const key = await deriveAccountKey(secret, chainType, path)
  try {
    return { chainType, address: await deriveAddress(chainType, key), path }
  } finally {
    key.fill(0)
  }
}

export function isSame(row: AccountRow, { chainType, address }: DerivedAccount): boolean {
  return row.chain_type === chainType && row.address === address
}

/**
 * Finds a keyring with the same secret.
 * @returns its id
 * @throws AppError `wallet/duplicate` if another keyring has one of the accounts
 */
export function findKeyringWith(derived: readonly DerivedAccount[], repository: WalletRepository): string | undefined {
  const accounts = repository.accounts()
  const same = findSameKeyring(derived, accounts)
  if (same !== undefined) return same
  const hit = accounts.find((account) => derived.some((derivedAccount) => isSame(account, derivedAccount)))
  if (hit === undefined) return undefined
  throw new AppError('wallet/duplicate', `${hit.address} is already in your wallet, as “${hit.label}”.`)
}

/** Returns the keyring with the same secret, identified by its first accounts. */
export function findSameKeyring(
  derived: readonly DerivedAccount[],
  accounts: readonly AccountRow[],
): string | undefined {
  const hits = derived.map((derivedAccount) => accounts.find((it) => isSame(it, derivedAccount)))
  const [first] = hits
  const isOne = first && hits.every((it) => it?.keyring_id === first.keyring_id) && isFirst(first, derived[0])
  return isOne ? first.keyring_id : undefined
}

function isFirst(row: AccountRow, derived: DerivedAccount | undefined): boolean {
  return row.path === (derived?.path ?? null)
}

export function createKeyringId(): string {
  return `keys_${randomBytes(12).toString('hex')}`
}

type NewKeyring = { id: string; secret: Pick<Secret, 'kind'>; words: number | null; writtenDown: boolean; atMs: number }

/** Inserts a keyring with its accounts in one transaction. */
export function insertKeyring(
  repository: WalletRepository,
  options: NewKeyring & { label: string | undefined; derived: readonly DerivedAccount[] },
): void {
  const kind: KeyringRow['kind'] = options.secret.kind === 'phrase' ? 'phrase' : 'private_key'
  repository.atomically(() => {
    const label = options.label ?? freeLabel(kind, repository.keyrings())
    repository.addKeyring({
      id: options.id,
      kind,
      label,
      words: options.words,
      written_down: options.writtenDown,
      created_at_ms: options.atMs,
    })
    for (const derivedAccount of options.derived) {
      insertAccount(repository, {
        keyringId: options.id,
        derived: derivedAccount,
        atMs: options.atMs,
        label: undefined,
      })
    }
  })
}

export function insertAccount(
  repository: WalletRepository,
  options: { keyringId: string; derived: DerivedAccount; label: string | undefined; atMs: number },
): void {
  const { chainType, address, path } = options.derived
  repository.addAccount({
    id: deriveAccountId(chainType, address),
    keyring_id: options.keyringId,
    chain_type: chainType,
    address,
    path,
    label: options.label ?? createAccountLabel(chainType, path),
    created_at_ms: options.atMs,
  })
}

function createAccountLabel(chainType: ChainType, path: string | null): string {
  const number = path === null ? '' : ` ${parseIndex(chainType, path) + 1}`
  return chainType === 'evm' ? `Account${number}` : `Solana${number}`
}

function freeLabel(kind: KeyringRow['kind'], keyrings: readonly KeyringRow[]): string {
  const word = kind === 'phrase' ? 'Phrase' : 'Key'
  for (let number = 1; ; number += 1) {
    const label = `${word} ${number}`
    if (!keyrings.some((it) => it.label === label)) return label
  }
}
