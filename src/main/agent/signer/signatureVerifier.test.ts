import { createHash } from 'node:crypto'
import { recoverPublicKey, sign } from 'ox/Secp256k1'
import type { Signature } from 'ox/Signature'
import { expect, test } from 'vitest'
import { createSignatureVerifier } from './signatureVerifier.ts'

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const digest = (text: string) => `0x${createHash('sha256').update(text).digest('hex')}` as const
const signHash = (key: string, hash: `0x${string}`) =>
  sign({ payload: hash, privateKey: digest(key), extraEntropy: false })

function derivePublicKey(key: string) {
  const payload = digest('its public key')
  return recoverPublicKey({ payload, signature: signHash(key, payload) })
}

/** Verifies with the library, which is slower. */
function recovers(hash: `0x${string}`, signature: Signature, to: { x: bigint; y: bigint }): boolean {
  try {
    const { x, y } = recoverPublicKey({ payload: hash, signature })
    return x === to.x && y === to.y
  } catch {
    return false
  }
}

test.each(['one key', 'another key', 'a third key'])('agrees with public key recovery for %s', async (key) => {
  const publicKey = derivePublicKey(key)
  const isSignedBy = await createSignatureVerifier(publicKey)
  const said = { yes: 0, no: 0 }
  for (const text of ['first', 'second', 'third', 'fourth']) {
    const hash = digest(text)
    const ownSignature = signHash(key, hash)
    const { r, s, yParity } = ownSignature
    const tried: [hash: `0x${string}`, Signature][] = [
      [hash, ownSignature],
      [hash, { r, s: order - s, yParity: 1 - yParity }], // the malleable counterpart
      [hash, { r, s, yParity: 1 - yParity }],
      [hash, { r, s: order - s, yParity }],
      [hash, { r, s: s + 1n, yParity }],
      [hash, { r: r + 1n, s, yParity }],
      [hash, { r: s, s: r, yParity }],
      [hash, signHash('somebody else', hash)],
      [digest(`not the ${text}`), ownSignature],
    ]
    for (const [digest, signature] of tried) {
      const expected = recovers(digest, signature, publicKey)
      expect(isSignedBy(digest, signature)).toBe(expected)
      said[expected ? 'yes' : 'no'] += 1
    }
  }
  expect(said).toEqual({ yes: 8, no: 28 })
})

test('rejects signature scalars outside of the valid range', async () => {
  const isSignedBy = await createSignatureVerifier(derivePublicKey('one key'))
  const hash = digest('first')
  const { r, s, yParity } = signHash('one key', hash)
  for (const scalar of [0n, order, order + 1n]) {
    expect(isSignedBy(hash, { r: scalar, s, yParity })).toBe(false)
    expect(isSignedBy(hash, { r, s: scalar, yParity })).toBe(false)
  }
})
