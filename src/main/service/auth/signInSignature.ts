import type { SignInMessage } from '#shared/signInMessage.ts'
import { decodeBytes, isSignedByEvm, isSignedBySolana } from '../base/walletSignature.ts'

/**
 * Whether the message was signed by the key of the address in it. Loads the signature libraries at the first sign-in,
 * to keep the start of the service fast.
 */
export function isSignedByAddress(
  message: Pick<SignInMessage, 'chainType' | 'address'>,
  signed: { text: string; signature: string },
): Promise<boolean> {
  return message.chainType === 'evm' ? isEvmSignIn(message.address, signed) : isSolanaSignIn(message.address, signed)
}

/** Verifies an EIP-191 message. EIP-4361 requires the EIP-55 checksum, so an address in lower case is rejected. */
async function isEvmSignIn(
  address: string,
  { text, signature }: { text: string; signature: string },
): Promise<boolean> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return false
  const [Address, Hex, PersonalMessage] = await Promise.all([
    import('ox/Address'),
    import('ox/Hex'),
    import('ox/PersonalMessage'),
  ])
  if (Address.checksum(address as `0x${string}`) !== address) return false // the pattern above ensures hexadecimal digits
  return isSignedByEvm({ address, payload: PersonalMessage.getSignPayload(Hex.fromString(text)), signature })
}

/** Verifies the unchanged text. The signature is base58 or base64. */
async function isSolanaSignIn(
  address: string,
  { text, signature }: { text: string; signature: string },
): Promise<boolean> {
  const [publicKey, ...forms] = await Promise.all([
    decodeBytes('base58', address),
    decodeBytes('base58', signature),
    decodeBytes('base64', signature),
  ])
  const message = new TextEncoder().encode(text)
  const verified = await Promise.all(forms.map((form) => isSignedBySolana({ publicKey, message, signature: form })))
  return verified.includes(true)
}
