import { KeyringId } from '../../../shared/contract/wallet.ts'
import { wordsOf } from './recoveryPhrase.ts'
import { type FoundAccount, firstAccounts, insertKeyring, isSame, sameKeyring } from './walletAccounts.ts'
import { isWhole, type Opened, openSecret, type Secret } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'

type Tools = Pick<WalletTools, 'repository' | 'secrets' | 'now' | 'tell'>

/**
 * A crash between secret and row, an answer of the keychain that came too late, or a lost database: what is sealed
 * here belongs to this wallet, unless it was given again since.
 */
export async function adoptSecrets(opened: Opened, tools: Tools): Promise<void> {
  const rows = tools.repository.keyrings().map((it) => it.id)
  const kept = new Set(rows)
  for (const id of opened.header.names.filter((it) => !kept.has(it))) {
    const text = await opened.store.read(id)
    if (text === undefined) continue
    const secret = openSecret(opened.dataKey, id, text)
    try {
      if (!secret || (await adopt(opened, { id, secret, tools })) !== 'dropped') kept.add(id)
    } finally {
      secret?.bytes.fill(0)
    }
  }
  const { names } = opened.header
  if (kept.size !== names.length || rows.some((id) => !names.includes(id))) {
    await tools.secrets.list(opened, [...kept])
  }
}

type Leftover = { id: string; secret: Secret; tools: Tools }

async function adopt(opened: Opened, { id, secret, tools }: Leftover): Promise<'kept' | 'dropped'> {
  const { repository, secrets, now, tell } = tools
  const found = await firstAccounts(secret)
  const accounts = repository.accounts()
  const missing = found.filter((one) => !accounts.some((it) => isSame(it, one)))
  if (missing.length > 0) {
    insertKeyring(repository, { ...adopted(id, secret), found: missing, atMs: now() })
    tell('wallet.imported', 'A secret that was in the wallet without its accounts was taken in again.', id)
    return 'kept'
  }
  const same = sameKeyring(found, accounts)
  if (same !== undefined && !(await isWhole(opened, same))) await secrets.put(opened, same, secret)
  if (!(await areWhole(opened, holders(found, tools)))) return 'kept' // it may be the last copy
  await secrets.drop(opened, id)
  return 'dropped'
}

function holders(found: readonly FoundAccount[], { repository }: Tools): string[] {
  const rows = repository.accounts().filter((it) => found.some((one) => isSame(it, one)))
  return [...new Set(rows.map((it) => it.keyring_id))]
}

async function areWhole(opened: Opened, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) if (!(await isWhole(opened, id))) return false
  return true
}

function adopted(id: string, secret: Secret) {
  const words = secret.kind === 'phrase' ? wordsOf(secret.bytes) : null
  return { id: KeyringId.parse(id), secret, words, writtenDown: secret.kind !== 'phrase', label: undefined }
}
