const signatureBytes = 64
const hashBytes = 32

/** Serializes a transaction with two signers. The first signature is left empty. @returns base64 */
export function serializeTransaction(message: Uint8Array, signature: Uint8Array): string {
  return Buffer.concat([Uint8Array.of(2), Buffer.alloc(signatureBytes), signature, message]).toString('base64')
}

/**
 * Returns the signatures, or an empty array if the bytes are not a transaction:
 * https://solana.com/docs/core/transactions
 */
export function parseSignatures(transaction: Buffer): Buffer[] {
  const count = transaction[0] ?? 0
  if (count > 0x7f || transaction.length < 1 + signatureBytes * count) return []
  const getOffset = (index: number) => 1 + signatureBytes * index
  return Array.from({ length: count }, (_, index) => transaction.subarray(getOffset(index), getOffset(index + 1)))
}

/**
 * Returns the identifier of a payment: its block hash and the payer's signature.
 * @param transaction base64, as returned by `serializeTransaction` for a version 0 message with fewer than 128 keys
 */
export async function readTransactionNonce(transaction: string): Promise<string> {
  const { base58 } = await import('@scure/base')
  const bytes = Buffer.from(transaction, 'base64')
  const [, payer = Buffer.alloc(0)] = parseSignatures(bytes)
  const message = bytes.subarray(1 + 2 * signatureBytes)
  const keysAt = 5 // version, three key counts, length of the key list
  const hashAt = keysAt + (message[keysAt - 1] ?? 0) * 32
  return `${base58.encode(message.subarray(hashAt, hashAt + hashBytes))}:${base58.encode(payer)}`
}
