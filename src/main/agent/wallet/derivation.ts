import { createHmac } from 'node:crypto'
import type { ChainType } from '#shared/contract/wallet.ts'

/**
 * Builds a BIP-44 path. For Solana, the path that its wallets use.
 * @see https://docs.solana.com/wallet-guide/paper-wallet#hierarchical-derivation
 */
export function buildPath(chainType: ChainType, index: number): string {
  return chainType === 'evm' ? `m/44'/60'/0'/0/${index}` : `m/44'/501'/${index}'/0'`
}

export function parseIndex(chainType: ChainType, path: string): number {
  const parts = path.split('/')
  return Number.parseInt((chainType === 'evm' ? parts[5] : parts[3]) ?? '0', 10)
}

/** Derives a key of 32 bytes. The caller must overwrite it. */
export async function deriveKey(seed: Uint8Array, chainType: ChainType, path: string): Promise<Uint8Array> {
  return chainType === 'evm' ? deriveBip32Key(seed, path) : deriveSlip10Key(seed, path)
}

/**
 * Derives a BIP-32 key. Intermediate keys are overwritten.
 * @see https://github.com/bitcoin/bips/blob/master/bip-0032.mediawiki
 */
export async function deriveBip32Key(seed: Uint8Array, path: string): Promise<Uint8Array> {
  const { HDKey } = await import('@scure/bip32')
  let node = HDKey.fromMasterSeed(seed)
  try {
    for (const step of path.split('/').slice(1)) {
      const child = node.derive(`m/${step}`)
      node.wipePrivateData()
      node = child
    }
    if (!node.privateKey) throw new Error('A derived node has no private key.')
    return Uint8Array.from(node.privateKey)
  } finally {
    node.wipePrivateData()
  }
}

const hardened = 0x8000_0000

/**
 * Derives an Ed25519 key (SLIP-10). All steps are hardened.
 * @see https://github.com/satoshilabs/slips/blob/master/slip-0010.md
 */
export function deriveSlip10Key(seed: Uint8Array, path: string): Uint8Array {
  let node = createHmac('sha512', 'ed25519 seed').update(seed).digest()
  for (const step of path.split('/').slice(1)) {
    const data = Buffer.alloc(37)
    data.set(node.subarray(0, 32), 1)
    data.writeUInt32BE(Number.parseInt(step, 10) + hardened, 33)
    const child = createHmac('sha512', node.subarray(32)).update(data).digest()
    data.fill(0)
    node.fill(0)
    node = child
  }
  const key = Uint8Array.from(node.subarray(0, 32))
  node.fill(0)
  return key
}
