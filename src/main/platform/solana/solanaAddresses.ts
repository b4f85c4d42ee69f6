import { createHash } from 'node:crypto'

/** The only programs that a payment calls: https://solana.com/docs/core/programs */
export const solanaPrograms = {
  system: '11111111111111111111111111111111',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  /** Program of Token-2022 tokens. USDC is not one of them. */
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  associatedToken: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
} as const

const keyBytes = 32

/** @returns undefined if the text is not an address: 32 bytes in base58 */
export async function parseSolanaKey(address: string): Promise<Uint8Array | undefined> {
  const { base58 } = await import('@scure/base')
  try {
    const key = base58.decode(address)
    return key.length === keyBytes ? key : undefined
  } catch {
    return undefined
  }
}

/** Derives the associated token account of an owner, without a request. */
export async function deriveTokenAccount(owner: string, mint: string): Promise<string> {
  const { base58 } = await import('@scure/base')
  const seeds = [owner, solanaPrograms.token, mint].map((it) => base58.decode(it))
  const program = base58.decode(solanaPrograms.associatedToken)
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const seed of seeds) hash.update(seed)
    const address = hash.update(Uint8Array.of(bump)).update(program).update('ProgramDerivedAddress').digest()
    // A program-derived address must not be a valid public key.
    if (!(await isOnCurve(address))) return base58.encode(address)
  }
  throw new Error(`${owner} has no token account.`)
}

/** Whether the bytes are a valid public key. */
export async function isOnCurve(key: Uint8Array): Promise<boolean> {
  const { ed25519 } = await import('@noble/curves/ed25519')
  try {
    ed25519.ExtendedPoint.fromHex(key)
    return true
  } catch {
    return false
  }
}
