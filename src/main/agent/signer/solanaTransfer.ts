import { solanaPrograms } from '#platform/solana/solanaAddresses.ts'
import { usdcDecimals } from '#shared/contract/networks.ts'

export type SolanaTransfer = {
  feePayer: string
  payer: string
  /** Token accounts. */
  source: string
  destination: string
  mint: string
  amount: bigint
  memo: string
  blockHash: string
}

/** Limit of the reference client, enough for the longest memo. The fee payer pays the fees. */
const computeUnits = 60_000
const priceMicroLamports = 1n

/**
 * The bytes that payer and fee payer sign: a message of version 0 with the four instructions of x402, in their order, and no
 * lookup table. Nothing in it but these fields comes from outside.
 * @see https://solana.com/docs/core/transactions#message
 */
export async function buildTransferMessage(transfer: SolanaTransfer): Promise<Uint8Array> {
  const { base58 } = await import('@scure/base')
  const { feePayer, payer, source, destination, mint, amount, memo, blockHash } = transfer
  const { token, computeBudget, memo: memoProgram } = solanaPrograms
  // Signers first, those that may be written to before the others.
  const keys = [feePayer, payer, source, destination, mint, token, computeBudget, memoProgram]
  if (new Set(keys).size !== keys.length) throw new Error('Each account of a transfer is another one.')
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
    // Version 0; two signatures; of the signers one, of the others four are only read.
    Uint8Array.of(0x80, 2, 1, 4),
    compact(keys.length),
    ...keys.map((it) => base58.decode(it)),
    base58.decode(blockHash),
    compact(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => {
      const bytes = Buffer.concat(data)
      const indexes = Uint8Array.from(accounts, indexOfKey)
      return [Uint8Array.of(indexOfKey(program)), compact(indexes.length), indexes, compact(bytes.length), bytes]
    }),
    compact(0),
  ])
}

function toLittleEndian(value: bigint, bytes: number): Uint8Array {
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(value)
  return amount.subarray(0, bytes)
}

/** compact-u16 */
function compact(value: number): Uint8Array {
  return value < 0x80 ? Uint8Array.of(value) : Uint8Array.of((value & 0x7f) | 0x80, value >> 7)
}
