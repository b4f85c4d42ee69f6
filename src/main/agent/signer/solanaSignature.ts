import { AppError } from '../../../shared/appError.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'

/**
 * Signs text and verifies it against the account's address, strictly (RFC 8032).
 * @returns base58
 * @throws AppError `wallet/locked`, `wallet/damaged`
 */
export async function signSolana(
  keys: Pick<WalletKeys, 'lend'>,
  account: SigningAccount,
  text: string,
): Promise<string> {
  const [{ ed25519 }, { base58 }] = await Promise.all([import('@noble/curves/ed25519'), import('@scure/base')])
  const bytes = new TextEncoder().encode(text)
  const signature = await keys.lend(account.id, (seed) => ed25519.sign(bytes, seed))
  if (ed25519.verify(signature, bytes, base58.decode(account.address), { zip215: false })) {
    return base58.encode(signature)
  }
  throw new AppError('wallet/damaged', `The key of ${account.address} does not belong to this address.`)
}
