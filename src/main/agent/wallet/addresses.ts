import type { ChainType } from '#shared/contract/wallet.ts'

/**
 * Derives an EVM address with checksum (EIP-55), or a Solana address in base58.
 * @see https://eips.ethereum.org/EIPS/eip-55
 */
export function deriveAddress(chainType: ChainType, key: Uint8Array): Promise<string> {
  return chainType === 'evm' ? toEvmAddress(key) : toSolanaAddress(key)
}

async function toEvmAddress(key: Uint8Array): Promise<string> {
  const [{ secp256k1 }, { keccak_256 }] = await Promise.all([
    import('@noble/curves/secp256k1'),
    import('@noble/hashes/sha3'),
  ])
  const point = secp256k1.getPublicKey(key, false).subarray(1)
  const address = Buffer.from(keccak_256(point).subarray(-20)).toString('hex')
  const checksum = Buffer.from(keccak_256(Buffer.from(address))).toString('hex')
  return `0x${[...address].map((digit, index) => (Number.parseInt(checksum[index] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit)).join('')}`
}

async function toSolanaAddress(seed: Uint8Array): Promise<string> {
  const [{ ed25519 }, { base58 }] = await Promise.all([import('@noble/curves/ed25519'), import('@scure/base')])
  return base58.encode(ed25519.getPublicKey(seed))
}
