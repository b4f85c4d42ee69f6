import { createHash } from 'node:crypto'
import { type ChainType, WalletAccountId } from '#shared/contract/wallet.ts'

/**
 * Derives the id of an account from its address, so that a removed secret has the same accounts when it is imported
 * again.
 */
export function deriveAccountId(chainType: ChainType, address: string): WalletAccountId {
  const compared = chainType === 'evm' ? address.toLowerCase() : address
  const digest = createHash('sha256').update(`${chainType}:${compared}`).digest('hex')
  return WalletAccountId.parse(`wal_${digest.slice(0, 24)}`)
}
