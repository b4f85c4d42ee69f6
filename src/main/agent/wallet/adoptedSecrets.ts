import { KeyringId } from '../../../shared/contract/wallet.ts'
import { wordsOf } from './recoveryPhrase.ts'
import { firstAccounts, insertKeyring } from './walletAccounts.ts'
import { type Opened, openSecret, type Secret } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'

/** A crash between secret and row, or a lost database: what is sealed here belongs to this wallet. */
export async function adoptSecrets(
  opened: Opened,
  { repository, secrets, now, tell }: Pick<WalletTools, 'repository' | 'secrets' | 'now' | 'tell'>,
): Promise<void> {
  const rows = repository.keyrings().map((it) => it.id)
  const kept = new Set(rows)
  for (const id of opened.header.names.filter((it) => !kept.has(it))) {
    const text = await opened.store.read(id)
    if (text === undefined) continue
    kept.add(id)
    const secret = openSecret(opened.dataKey, id, text)
    if (!secret) continue
    try {
      const found = await firstAccounts(secret)
      insertKeyring(repository, { ...adopted(id, secret), found, atMs: now() })
      tell('wallet.imported', 'A secret that was in the wallet without its accounts was taken in again.', id)
    } finally {
      secret.bytes.fill(0)
    }
  }
  if (kept.size !== opened.header.names.length || rows.some((id) => !opened.header.names.includes(id))) {
    await secrets.list(opened, [...kept])
  }
}

function adopted(id: string, secret: Secret) {
  const words = secret.kind === 'phrase' ? wordsOf(secret.bytes) : null
  return { id: KeyringId.parse(id), secret, words, writtenDown: secret.kind !== 'phrase', label: undefined }
}
