import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'

/** A secret API key of Coinbase's Developer Platform. */
export type CdpKey = { id: string; key: KeyObject; algorithm: 'EdDSA' | 'ES256' }

const lifeSeconds = 120

/**
 * A key as the portal gives it: 64 bytes of Ed25519 (seed and public key) in base64, or an EC key in PEM.
 * @throws Error that tells nothing of the key
 */
export function cdpKey(id: string, secret: string): CdpKey {
  const bytes = /^[A-Za-z0-9+/]{86}==$/.test(secret) ? Buffer.from(secret, 'base64') : undefined
  try {
    if (bytes) {
      const d = bytes.subarray(0, 32).toString('base64url')
      const x = bytes.subarray(32).toString('base64url')
      const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
      // Two halves that do not belong together would sign what nobody can verify.
      if (createPublicKey(key).export({ format: 'jwk' }).x === x) return { id, key, algorithm: 'EdDSA' }
    }
    const key = createPrivateKey(secret)
    const { namedCurve } = key.asymmetricKeyDetails ?? {}
    if (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') return { id, key, algorithm: 'ES256' }
  } catch {
    // Its words may repeat the key.
  }
  throw new Error('The secret is neither an Ed25519 key in base64 nor an EC key (P-256) in PEM.')
}

/**
 * A token for one request: its method, host and path, for two minutes.
 * @see https://docs.cdp.coinbase.com/get-started/authentication/jwt-authentication
 */
export function cdpToken(
  { id, key, algorithm }: CdpKey,
  request: { method: string; url: string },
  nowMs: number,
): string {
  const { host, pathname } = new URL(request.url)
  const seconds = Math.floor(nowMs / 1000)
  const header = { alg: algorithm, kid: id, typ: 'JWT', nonce: randomBytes(16).toString('hex') }
  const claims = {
    ...{ sub: id, iss: 'cdp', aud: ['cdp_service'], uris: [`${request.method} ${host}${pathname}`] },
    ...{ iat: seconds, nbf: seconds, exp: seconds + lifeSeconds },
  }
  const signed = [header, claims].map((it) => Buffer.from(JSON.stringify(it)).toString('base64url')).join('.')
  const bytes =
    algorithm === 'EdDSA'
      ? sign(null, Buffer.from(signed), key)
      : sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${bytes.toString('base64url')}`
}
