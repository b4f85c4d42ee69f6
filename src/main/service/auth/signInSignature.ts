import type { SignInMessage } from './signInMessage.ts'

/**
 * Whether the message was signed by the key of the address that stands in it.
 * The libraries are loaded at the first sign-in: the service starts without them.
 */
export function isSignedByItsAddress(
  message: Pick<SignInMessage, 'chainType' | 'address'>,
  signed: { text: string; signature: string },
): Promise<boolean> {
  return message.chainType === 'evm'
    ? isSignedByEvm(message.address, signed)
    : isSignedBySolana(message.address, signed)
}

/** 65 bytes r ‖ s ‖ v of an EIP-191 message. Short forms, and the twin that every signature has with a high s, are refused. */
async function isSignedByEvm(
  address: string,
  { text, signature }: { text: string; signature: string },
): Promise<boolean> {
  if (!/^0x[0-9a-fA-F]{128}(1b|1c|1B|1C|00|01)$/.test(signature) || !/^0x[0-9a-fA-F]{40}$/.test(address)) return false
  const [Address, Hex, PersonalMessage, Secp256k1, { secp256k1 }] = await Promise.all([
    import('ox/Address'),
    import('ox/Hex'),
    import('ox/PersonalMessage'),
    import('ox/Secp256k1'),
    import('@noble/curves/secp256k1'),
  ])
  // EIP-4361 wants the checksum of EIP-55: an address in lower case is another text.
  if (Address.checksum(address as `0x${string}`) !== address) return false // hexadecimal, by the pattern above
  const r = BigInt(signature.slice(0, 66))
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const { n } = secp256k1.CURVE
  if (r === 0n || r >= n || s === 0n || s > n / 2n) return false
  const yParity = Number(`0x${signature.slice(130)}`) % 27
  try {
    const payload = PersonalMessage.getSignPayload(Hex.fromString(text))
    return Secp256k1.recoverAddress({ payload, signature: { r, s, yParity } }) === address.toLowerCase()
  } catch {
    return false // no point of the curve
  }
}

/** Ed25519 by the strict rules of RFC 8032: no weak keys, one form of each signature. */
async function isSignedBySolana(
  address: string,
  { text, signature }: { text: string; signature: string },
): Promise<boolean> {
  const [{ ed25519 }, { base58, base64 }] = await Promise.all([import('@noble/curves/ed25519'), import('@scure/base')])
  const publicKey = decoded(base58, address)
  if (publicKey?.length !== 32) return false
  const bytes = new TextEncoder().encode(text)
  return [decoded(base58, signature), decoded(base64, signature)].some(
    (it) => it?.length === 64 && verifies(() => ed25519.verify(it, bytes, publicKey, { zip215: false })),
  )
}

function decoded(coder: { decode(text: string): Uint8Array }, text: string): Uint8Array | undefined {
  try {
    return coder.decode(text)
  } catch {
    return undefined // another alphabet
  }
}

function verifies(verify: () => boolean): boolean {
  try {
    return verify()
  } catch {
    return false // the address is no point of the curve
  }
}
