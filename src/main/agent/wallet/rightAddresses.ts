import { indexOf, pathOf } from './derivation.ts'
import { foundAccount } from './walletAccounts.ts'
import type { AccountRow } from './walletRepository.ts'
import type { Secret } from './walletSecrets.ts'
import type { WalletTools } from './walletTools.ts'

/**
 * The database that names the accounts is not sealed: an address that somebody else wrote there would be shown as one to
 * pay to. The keys know better. Of a wallet that is open.
 */
export async function rightAddresses({ repository, door, tell }: Pick<WalletTools, 'repository' | 'door' | 'tell'>) {
  const broken = door.broken()
  const wrong: { row: AccountRow; address: string }[] = []
  for (const row of repository.accounts().filter((it) => !broken.includes(it.keyring_id))) {
    const secret = door.secret(row.keyring_id)
    try {
      const address = await addressAt(secret, row)
      if (address !== undefined && address !== row.address) wrong.push({ row, address })
    } finally {
      secret.bytes.fill(0)
    }
  }
  if (wrong.length === 0) return
  repository.correctAddresses(wrong.map(({ row, address }) => ({ id: row.id, address })))
  for (const { row, address } of wrong) {
    tell(
      'wallet.address_corrected',
      `“${row.label}” is ${address}. Somebody had written ${row.address} in its place: pay nothing to that.`,
      row.id,
    )
  }
}

/** Undefined for a path that no account has: what is signed with it is not of its address, and thrown away. */
async function addressAt(secret: Secret, { chain_type, path }: AccountRow): Promise<string | undefined> {
  if (secret.kind === 'phrase' && (path === null || path !== pathOf(chain_type, indexOf(chain_type, path))))
    return undefined
  return (await foundAccount(secret, chain_type, path)).address
}
