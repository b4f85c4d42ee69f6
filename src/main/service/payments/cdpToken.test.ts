import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { parseCdpKey } from '#config/cdpKey.ts'
import { createCdpToken } from './cdpToken.ts'

const url = 'https://api.cdp.coinbase.com/platform/v2/x402/settle'
const request = { method: 'POST', url }

function ed25519() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  const secret = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')]).toString('base64')
  return { secret, publicKey, algorithm: 'EdDSA' }
}
function p256() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  return { secret: privateKey.export({ type: 'sec1', format: 'pem' }).toString(), publicKey, algorithm: 'ES256' }
}

describe.each([
  ['Ed25519', ed25519],
  ['P-256', p256],
])('a token signed with a key of type %s', (_, make) => {
  test('passes verification by jose for this request and expires after two minutes', async () => {
    const { secret, publicKey, algorithm } = make()
    const token = createCdpToken(parseCdpKey('key-1', secret), request, Date.now())
    const options = { issuer: 'cdp', audience: 'cdp_service', subject: 'key-1', algorithms: [algorithm] }
    const { payload, protectedHeader } = await jwtVerify(token, publicKey, options)
    expect(protectedHeader).toEqual({
      alg: algorithm,
      kid: 'key-1',
      typ: 'JWT',
      nonce: expect.stringMatching(/^\w{32}$/),
    })
    expect(payload.uris).toEqual(['POST api.cdp.coinbase.com/platform/v2/x402/settle'])
    expect((payload.exp ?? 0) - (payload.nbf ?? 0)).toBe(120)
  })

  test('differs each time and does not contain the secret', () => {
    const { secret } = make()
    const key = parseCdpKey('key-1', secret)
    const [first, second] = [createCdpToken(key, request, 1_000), createCdpToken(key, request, 1_000)]
    expect(decodeProtectedHeader(first).nonce).not.toBe(decodeProtectedHeader(second).nonce)
    expect(decodeJwt(first)).toEqual(decodeJwt(second))
    expect(Buffer.from(first, 'base64url').toString('latin1')).not.toContain(secret.slice(0, 40))
  })
})

test.each([
  ['nothing', ''],
  ['a short one', Buffer.alloc(32, 1).toString('base64')],
  ['two halves that do not belong together', Buffer.alloc(64, 1).toString('base64')],
  [
    'another curve',
    generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey.export({ type: 'sec1', format: 'pem' }),
  ],
  [
    'a key of RSA',
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }),
  ],
])('rejects %s as a key without echoing it', (_, secret) => {
  expect(() => parseCdpKey('key-1', String(secret))).toThrow(/^The secret must be/)
})
