import type { Signature } from 'ox/Signature'
import { AppError } from '#shared/appError.ts'
import type { SigningAccount, WalletKeys } from '../wallet/walletKeys.ts'
import { createSignatureVerifier, type SignatureVerifier } from './signatureVerifier.ts'

type Hex = `0x${string}`

/**
 * Signs 32 bytes and verifies that the signature recovers to the account's address, so that an invalid signature is
 * never returned.
 * @returns r ‖ s ‖ v as 0x-hexadecimal, s in the lower half, v 27 or 28
 * @throws AppError `wallet/locked`, `wallet/damaged`
 */
export type SignEvm = (account: SigningAccount, hash: Hex) => Promise<string>

export function createEvmSignatures(keys: Pick<WalletKeys, 'withKey'>): SignEvm {
  /** Verifiers by address, created after the first recovered signature. */
  const verifiers = new Map<string, SignatureVerifier>()

  const isSignedBy = async (address: string, hash: Hex, signature: Signature): Promise<boolean> => {
    const cached = verifiers.get(address)
    if (cached) return cached(hash, signature)
    const [{ recoverPublicKey }, { fromPublicKey }] = await Promise.all([import('ox/Secp256k1'), import('ox/Address')])
    const publicKey = recoverPublicKey({ payload: hash, signature })
    if (!isSameEvmAddress(fromPublicKey(publicKey), address)) return false
    verifiers.set(address, await createSignatureVerifier(publicKey))
    return true
  }

  return async (account, hash) => {
    const [{ sign }, { fromHex, toHex }] = await Promise.all([import('ox/Secp256k1'), import('ox/Signature')])
    // Deterministic (RFC 6979): the same intent has the same signature.
    const signed = await keys.withKey(account.id, (key) =>
      sign({ payload: hash, privateKey: key, extraEntropy: false }),
    )
    const signature = toHex(signed)
    if (await isSignedBy(account.address, hash, fromHex(signature))) return signature
    throw new AppError('wallet/damaged', `The key of ${account.address} does not belong to this address.`)
  }
}

/** EIP-191, version 0x45. */
export async function hashPersonalMessage(text: string): Promise<`0x${string}`> {
  const { getSignPayload } = await import('ox/PersonalMessage')
  return getSignPayload(new TextEncoder().encode(text))
}

export function isSameEvmAddress(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/** Whether the checksum (EIP-55) is wrong. Addresses in a single case have no checksum. */
export async function hasWrongChecksum(address: string): Promise<boolean> {
  const digits = address.slice(2)
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false
  const { checksum } = await import('ox/Address')
  return checksum(address.toLowerCase()) !== address
}
