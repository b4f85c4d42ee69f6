const headerBytes = 3
const keyBytes = 32

/**
 * Whether these bytes are a message that Solana's validators would take as a transaction's, legacy or version 0: one
 * signature over them would be its signature.
 * @see https://solana.com/docs/core/transactions#message
 */
export function isSolanaMessage(bytes: Uint8Array): boolean {
  const first = bytes[0]
  if (first === undefined) return false
  const versioned = first >= 0x80
  const at = reader(bytes, versioned ? 1 : 0)
  const [signers = 0, readonlySigners = 0, readonlyOthers = 0] = at.take(headerBytes)
  const keys = at.count()
  at.take(keys * keyBytes)
  at.take(keyBytes) // recent block hash
  for (let left = at.count(); left > 0 && !at.failed(); left -= 1) {
    at.take(1) // program
    at.take(at.count()) // accounts
    at.take(at.count()) // data
  }
  if (versioned) {
    for (let left = at.count(); left > 0 && !at.failed(); left -= 1) {
      at.take(keyBytes) // lookup table
      at.take(at.count())
      at.take(at.count())
    }
  }
  const fits = signers > 0 && readonlySigners < signers && signers + readonlyOthers <= keys
  return fits && at.ended() && !at.failed()
}

function reader(bytes: Uint8Array, from: number) {
  let at = from
  let broken = false
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) broken = true
    const taken = bytes.subarray(at, at + length)
    at += length
    return taken
  }
  return {
    take,
    /** compact-u16: seven bits a byte, at most three of them */
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
    ended: () => at === bytes.length,
  }
}
