import { solanaPrograms } from '#platform/solana/solanaAddresses.ts'
import { usdcDecimals } from '#shared/contract/networks.ts'

export type SolanaTransfer = {
  feePayer: string
  payer: string
  /** Token accounts of the payer and the payee. */
  source: string
  destination: string
  mint: string
  amount: bigint
  memo: string
  blockHash: string
}

/** Limit of the reference client, sufficient for the longest memo. The fee payer pays the fees. */
const computeUnits = 60_000
const priceMicroLamports = 1n

/**
 * Builds the bytes that the payer and the fee payer sign: a version 0 message with the four instructions of x402 in
 * order, and no lookup table. Only these fields are external input.
 * @see https://solana.com/docs/core/transactions#message
 */
export async function buildTransferMessage(transfer: SolanaTransfer): Promise<Uint8Array> {
  const { base58 } = await import('@scure/base')
  const { feePayer, payer, source, destination, mint, amount, memo, blockHash } = transfer
  const { token, computeBudget, memo: memoProgram } = solanaPrograms
  // Signers first, then writable accounts before read-only ones.
  const keys = [feePayer, payer, source, destination, mint, token, computeBudget, memoProgram]
  if (new Set(keys).size !== keys.length) throw new Error('The accounts of a transfer must be distinct.')
  const indexOfKey = (key: string): number => keys.indexOf(key)
  const instructions = [
    { program: computeBudget, accounts: [], data: [Uint8Array.of(2), toLittleEndian(BigInt(computeUnits), 4)] },
    { program: computeBudget, accounts: [], data: [Uint8Array.of(3), toLittleEndian(priceMicroLamports, 8)] },
    {
      program: token,
      accounts: [source, mint, destination, payer],
      data: [Uint8Array.of(12), toLittleEndian(amount, 8), Uint8Array.of(usdcDecimals)],
    },
    { program: memoProgram, accounts: [], data: [Buffer.from(memo, 'utf8')] },
  ]
  return Buffer.concat([
    // version 0, two signers, one read-only signer, four other read-only accounts
    Uint8Array.of(0x80, 2, 1, 4),
    encodeCompactU16(keys.length),
    ...keys.map((it) => base58.decode(it)),
    base58.decode(blockHash),
    encodeCompactU16(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => {
      const bytes = Buffer.concat(data)
      const indexes = Uint8Array.from(accounts, indexOfKey)
      return [
        Uint8Array.of(indexOfKey(program)),
        encodeCompactU16(indexes.length),
        indexes,
        encodeCompactU16(bytes.length),
        bytes,
      ]
    }),
    encodeCompactU16(0),
  ])
}

function toLittleEndian(value: bigint, bytes: number): Uint8Array {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(value)
  return amount.subarray(0, bytes)
}

/** compact-u16 */
function encodeCompactU16(value: number): Uint8Array {
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, value >> 7)
}
