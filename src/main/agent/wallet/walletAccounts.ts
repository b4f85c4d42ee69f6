import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { ChainType } from '#shared/contract/wallet.ts'
import { deriveAccountId } from './accountIds.ts'
import { addressOf } from './addresses.ts'
import { derivedKey, indexOf, pathOf } from './derivation.ts'
import { seedOf } from './recoveryPhrase.ts'
import type { AccountRow, KeyringRow, WalletRepository } from './walletRepository.ts'
import type { Secret } from './walletSecrets.ts'

export type FoundAccount = { chainType: ChainType; address: string; path: string | null }

const chainTypes = ['evm', 'solana'] as const satisfies readonly ChainType[]

/** The 32 bytes that sign for an account; whoever gets them overwrites them. */
export async function accountKey(secret: Secret, chainType: ChainType, path: string | null): Promise<Uint8Array> {
  if (secret.kind !== 'phrase') return Uint8Array.from(secret.bytes)
  if (path === null) throw new Error('An account of a phrase has no path.')
  const seed = await seedOf(secret.bytes)
  try {
    return await derivedKey(seed, chainType, path)
  } finally {
    seed.fill(0)
  }
}

/** The accounts that come with a secret: of a phrase the first of each chain. */
export async function firstAccounts(secret: Secret): Promise<FoundAccount[]> {
  if (secret.kind !== 'phrase') return [await foundAccount(secret, secret.kind, null)]
  return Promise.all(chainTypes.map((chainType) => foundAccount(secret, chainType, pathOf(chainType, 0))))
}

/** The account of a phrase after the last one that is there, leaving out any that was imported by itself. */
export async function nextAccount(
  secret: Secret,
  chainType: ChainType,
  { keyringId, accounts }: { keyringId: string; accounts: readonly AccountRow[] },
): Promise<FoundAccount> {
  const taken = accounts.filter((it) => it.keyring_id === keyringId && it.chain_type === chainType)
  const last = Math.max(-1, ...taken.map((it) => (it.path === null ? -1 : indexOf(chainType, it.path))))
  for (let index = last + 1; ; index += 1) {
    const next = await foundAccount(secret, chainType, pathOf(chainType, index))
    if (!accounts.some((it) => isSame(it, next))) return next
  }
}

/** What `secret` has at `path`. */
export async function foundAccount(secret: Secret, chainType: ChainType, path: string | null): Promise<FoundAccount> {
  const key = await accountKey(secret, chainType, path)
  try {
    return { chainType, address: await addressOf(chainType, key), path }
  } finally {
    key.fill(0)
  }
}

export function isSame(row: AccountRow, { chainType, address }: FoundAccount): boolean {
  return row.chain_type === chainType && row.address === address
}

/** Of what is in the wallet already. @returns the keyring that is this very secret, if it is */
export function keyringHaving(found: readonly FoundAccount[], repository: WalletRepository): string | undefined {
  const accounts = repository.accounts()
  const same = sameKeyring(found, accounts)
  if (same !== undefined) return same
  const hit = accounts.find((it) => found.some((one) => isSame(it, one)))
  if (hit === undefined) return undefined
  throw new AppError('wallet/duplicate', `${hit.address} is already in your wallet, as “${hit.label}”.`)
}

/** The keyring that is the very secret whose first accounts these are. */
export function sameKeyring(found: readonly FoundAccount[], accounts: readonly AccountRow[]): string | undefined {
  const hits = found.map((one) => accounts.find((it) => isSame(it, one)))
  const [first] = hits
  const isOne = first && hits.every((it) => it?.keyring_id === first.keyring_id) && isFirst(first, found[0])
  return isOne ? first.keyring_id : undefined
}

function isFirst(row: AccountRow, found: FoundAccount | undefined): boolean {
  return row.path === (found?.path ?? null)
}

export function createKeyringId(): string {
  return `keys_${randomBytes(12).toString('hex')}`
}

type NewKeyring = { id: string; secret: Pick<Secret, 'kind'>; words: number | null; writtenDown: boolean; atMs: number }

/** A keyring with its accounts, in one transaction. */
export function insertKeyring(
  repository: WalletRepository,
  given: NewKeyring & { label: string | undefined; found: readonly FoundAccount[] },
): void {
  const kind: KeyringRow['kind'] = given.secret.kind === 'phrase' ? 'phrase' : 'private_key'
  repository.atomically(() => {
    const label = given.label ?? freeLabel(kind, repository.keyrings())
    repository.addKeyring({
      id: given.id,
      kind,
      label,
      words: given.words,
      written_down: given.writtenDown,
      created_at_ms: given.atMs,
    })
    for (const one of given.found) {
      insertAccount(repository, { keyringId: given.id, found: one, atMs: given.atMs, label: undefined })
    }
  })
}

export function insertAccount(
  repository: WalletRepository,
  given: { keyringId: string; found: FoundAccount; label: string | undefined; atMs: number },
): void {
  const { chainType, address, path } = given.found
  repository.addAccount({
    id: deriveAccountId(chainType, address),
    keyring_id: given.keyringId,
    chain_type: chainType,
    address,
    path,
    label: given.label ?? accountLabel(chainType, path),
    created_at_ms: given.atMs,
  })
}

function accountLabel(chainType: ChainType, path: string | null): string {
  const number = path === null ? '' : ` ${indexOf(chainType, path) + 1}`
  return chainType === 'evm' ? `Account${number}` : `Solana${number}`
}

function freeLabel(kind: KeyringRow['kind'], keyrings: readonly KeyringRow[]): string {
  const word = kind === 'phrase' ? 'Phrase' : 'Key'
  for (let number = 1; ; number += 1) {
    const label = `${word} ${number}`
    if (!keyrings.some((it) => it.label === label)) return label
  }
}
