import { sign, verify } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'

/** DER prefix of a 32-byte Ed25519 private key (RFC 8410). @see https://www.rfc-editor.org/rfc/rfc8410 */
const privateHead = Buffer.from('302e020100300506032b657004220420', 'hex')
const publicHead = Buffer.from('302a300506032b6570032100', 'hex')

/**
 * Signs text or transaction bytes and verifies the signature against the account's address (RFC 8032).
 * @returns base58
 * @throws AppError `wallet/locked`, `wallet/damaged`
 */
export async function signSolana(
  keys: Pick<WalletKeys, 'withKey'>,
  account: SigningAccount,
  text: string | Uint8Array,
): Promise<string> {
  const { base58 } = await import('@scure/base')
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const signature = await keys.withKey(account.id, (seed) => signBytes(bytes, seed))
  const key = Buffer.concat([publicHead, base58.decode(account.address)])
  if (verify(null, bytes, { key, format: 'der', type: 'spki' }, signature)) return base58.encode(signature)
  throw new AppError('wallet/damaged', `The key of ${account.address} does not belong to this address.`)
}

function signBytes(bytes: Uint8Array, seed: Uint8Array): Buffer {
  const key = Buffer.concat([privateHead, seed])
  try {
    return sign(null, bytes, { key, format: 'der', type: 'pkcs8' })
  } finally {
    key.fill(0)
  }
}
