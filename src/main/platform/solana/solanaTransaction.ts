const signatureBytes = 64
const hashBytes = 32

/** Serializes a transaction with two signers, the first of whom has not signed yet. @returns base64 */
export function serializeTransaction(message: Uint8Array, signature: Uint8Array): string {
  return Buffer.concat([Uint8Array.of(2), Buffer.alloc(signatureBytes), signature, message]).toString('base64')
}

/** None where the bytes are no transaction: https://solana.com/docs/core/transactions */
export function parseSignatures(transaction: Buffer): Buffer[] {
  const count = transaction[0] ?? 0
  if (count > 0x7f || transaction.length < 1 + signatureBytes * count) return []
  const getOffset = (index: number) => 1 + signatureBytes * index
  return Array.from({ length: count }, (_, index) => transaction.subarray(getOffset(index), getOffset(index + 1)))
}

/**
 * By what a payment of ours is found again: the block hash that it names, and the payer's signature.
 * @param transaction base64, as `signedTransaction` made it of a message of version 0 with fewer than 128 keys
 */
export async function readTransactionNonce(transaction: string): Promise<string> {
  const { base58 } = await import('@scure/base')
  const bytes = Buffer.from(transaction, 'base64')
  const [, payer = Buffer.alloc(0)] = parseSignatures(bytes)
  const message = bytes.subarray(1 + 2 * signatureBytes)
  const keysAt = 5 // version, three numbers of keys, how many there are
  const hashAt = keysAt + (message[keysAt - 1] ?? 0) * 32
  return `${base58.encode(message.subarray(hashAt, hashAt + hashBytes))}:${base58.encode(payer)}`
}
