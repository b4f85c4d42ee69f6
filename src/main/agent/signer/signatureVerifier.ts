import type { Signature } from 'ox/Signature'

type Hex = `0x${string}`

/** Window size of the precomputed table, which has some hundred kilobytes and is computed in a few milliseconds. */
const tableBits = 6

/**
 * Creates a verifier of signatures for this public key. It is several times faster than recovery, because it uses a
 * precomputed table for the key. Compares the whole point, not only its x.
 * @see https://www.secg.org/sec1-v2.pdf#subsubsection.4.1.4
 */
export async function createSignatureVerifier({ x, y }: { x: bigint; y: bigint }) {
  const [{ secp256k1 }, { invert, mod }] = await Promise.all([
    import('@noble/curves/secp256k1'),
    import('@noble/curves/abstract/modular'),
  ])
  const { ProjectivePoint: Point, CURVE, utils } = secp256k1
  const publicKey = utils.precompute(tableBits, Point.fromAffine({ x, y }))
  const { n } = CURVE
  const isScalar = (value: bigint): boolean => value > 0n && value < n

  /** @param hash 32 bytes */
  return (hash: Hex, { r, s, yParity }: Signature): boolean => {
    if (!isScalar(r) || !isScalar(s)) return false
    const inverse = invert(s, n)
    const ofHash = mod(BigInt(hash) * inverse, n)
    const ofKey = publicKey.multiply(mod(r * inverse, n))
    const point = ofHash === 0n ? ofKey : Point.BASE.multiply(ofHash).add(ofKey)
    if (point.equals(Point.ZERO)) return false
    const affine = point.toAffine()
    return affine.x === r && Number(affine.y & 1n) === yParity
  }
}
export type SignatureVerifier = Awaited<ReturnType<typeof createSignatureVerifier>>
