import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { CdpKey } from '#service/payments/cdpToken.ts'

/**
 * Parses a key in the export formats of the Coinbase Developer Platform: 64 bytes of Ed25519 (seed and public key) in
 * base64, or an EC key in PEM.
 * @throws Error whose message contains no part of the key
 */
export function parseCdpKey(id: string, secret: string): CdpKey {
  const bytes = /^[A-Za-z0-9+/]{86}==$/.test(secret) ? Buffer.from(secret, 'base64') : undefined
  try {
    if (bytes) {
      const d = bytes.subarray(0, 32).toString('base64url')
      const x = bytes.subarray(32).toString('base64url')
      const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
      // A public key that does not match the seed would produce signatures that cannot be verified.
      if (createPublicKey(key).export({ format: 'jwk' }).x === x) return { id, key, algorithm: 'EdDSA' }
    }
    const key = createPrivateKey(secret)
    const { namedCurve } = key.asymmetricKeyDetails ?? {}
    if (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return { id, key, algorithm: 'ES256' }
  } catch {
    // The message of the original error may contain the key.
  }
  throw new Error('The secret must be a base64 Ed25519 key or a PEM EC key (P-256).')
}
