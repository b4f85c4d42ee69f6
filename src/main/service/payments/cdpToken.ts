import { type KeyObject, randomBytes, sign } from 'node:crypto'

/** Secret API key of Coinbase's Developer Platform. */
export type CdpKey = { id: string; key: KeyObject; algorithm: 'EdDSA' | 'ES256' }

const lifeSeconds = 120

/**
 * Creates a token for one request. It is bound to method, host and path, and valid for two minutes.
 * @see https://docs.cdp.coinbase.com/get-started/authentication/jwt-authentication
 */
export function createCdpToken(
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
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const bytes =
    algorithm === 'EdDSA'
      ? sign(null, Buffer.from(signed), key)
      : sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' })
  return `${signed}.${bytes.toString('base64url')}`
}
