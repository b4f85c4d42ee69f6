const headerBytes = 3
const keyBytes = 32

/**
 * Whether Solana validators would accept these bytes as a transaction message, legacy or version 0. A signature over
 * them would then sign the transaction.
 * @see https://solana.com/docs/core/transactions#message
 */
export function isSolanaMessage(bytes: Uint8Array): boolean {
  const first = bytes[0]
  if (first === undefined) return false
  const versioned = first >= 0x80
  const cursor = createReader(bytes, versioned ? 1 : 0)
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = cursor.take(headerBytes)
  const keys = cursor.count()
  cursor.take(keys * keyBytes)
  cursor.take(keyBytes) // recent block hash
  for (let remaining = cursor.count(); remaining > 0 && !cursor.failed(); remaining -= 1) {
    cursor.take(1) // program
    cursor.take(cursor.count()) // accounts
    cursor.take(cursor.count()) // data
  }
  if (versioned) {
    for (let remaining = cursor.count(); remaining > 0 && !cursor.failed(); remaining -= 1) {
      cursor.take(keyBytes) // lookup table
      cursor.take(cursor.count())
      cursor.take(cursor.count())
    }
  }
  const fits = signers > 0 && readonlySigners < signers && signers + readonlyOthers <= keys
  return fits && cursor.ended() && !cursor.failed()
}

function createReader(bytes: Uint8Array, from: number) {
  let offset = from
  let broken = false
  const take = (length: number): Uint8Array => {
    if (offset + length > bytes.length) broken = true
    const slice = bytes.subarray(offset, offset + length)
    offset += length
    return slice
  }
  return {
    take,
    /** compact-u16: seven bits per byte, at most three bytes */
    count(): number {
      let value = 0
      for (let shift = 0; shift <= 14; shift += 7) {
        const [byte = 0] = take(1)
        value |= (byte & 0x7f) << shift
        if ((byte & 0x80) === 0) return value
      }
      broken = true
      return 0
    },
    failed: () => broken,
    ended: () => offset === bytes.length,
  }
}
