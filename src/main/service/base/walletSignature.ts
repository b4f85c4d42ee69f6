/**
 * Signature verification accepts one encoding of each signature, so that it cannot be replayed in another one. The
 * libraries are loaded at first use, to keep the start of the service fast.
 */

const evmSignature = /^0x[0-9a-fA-F]{128}(1b|1c|1B|1C|00|01)$/

/**
 * Verifies 65 bytes r ‖ s ‖ v over `payload`. Rejects the equivalent signature with a high s (EIP-2).
 * @param options.address compared case-insensitively
 * @param options.payload 32 bytes as 0x-prefixed hexadecimal
 */
export async function isSignedByEvm(options: {
  address: string
  payload: `0x${string}`
  signature: string
}): Promise<boolean> {
  const { address, payload, signature } = options
  if (!evmSignature.test(signature)) return false
  const [{ recoverAddress }, { secp256k1 }] = await Promise.all([
    import('ox/Secp256k1'),
    import('@noble/curves/secp256k1'),
  ])
  const r = BigInt(signature.slice(0, 66))
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const { n } = secp256k1.CURVE
  if (r === 0n || r >= n || s === 0n || s > n / 2n) return false
  const yParity = Number(`0x${signature.slice(130)}`) % 27
  try {
    return recoverAddress({ payload, signature: { r, s, yParity } }).toLowerCase() === address.toLowerCase()
  } catch {
    return false // not a point on the curve
  }
}

/**
 * Verifies Ed25519 by the strict rules of RFC 8032: no weak keys, one encoding per signature. All three inputs are
 * bytes.
 */
export async function isSignedBySolana(options: {
  publicKey: Uint8Array | undefined
  message: Uint8Array
  signature: Uint8Array | undefined
}): Promise<boolean> {
  const { publicKey, message, signature } = options
  if (publicKey?.length !== 32 || signature?.length !== 64) return false
  const { ed25519 } = await import('@noble/curves/ed25519')
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false // not a point on the curve
  }
}

/** @returns undefined for text with characters outside the alphabet */
export async function decodeBytes(form: 'base58' | 'base64', text: string): Promise<Uint8Array | undefined> {
  const coders = await import('@scure/base')
  try {
    return coders[form].decode(text)
  } catch {
    return undefined
  }
}
