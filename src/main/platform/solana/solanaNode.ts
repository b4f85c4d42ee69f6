import { z } from 'zod'
import type { SolanaNetwork } from '#shared/contract/networks.ts'
import { ChainError, type ChainErrorDetails } from '../chain/chainError.ts'
import { createHttpClient, type HttpClient, ResponseTooLargeError } from '../http/httpClient.ts'
import { parseJsonOrUndefined } from '../parsing/parseJsonOrUndefined.ts'
import { deriveTokenAccount } from './solanaAddresses.ts'
import { readSolanaBalances, type SolanaBalance } from './solanaBalances.ts'
import { parseSignatures } from './solanaTransaction.ts'

/**
 * Client of one Solana network through one RPC node. The node is not trusted: responses are limited in size, time and
 * form, and are used only if the node reports the expected network. Every query rejects with a `ChainError`.
 */
export interface SolanaNode {
  readonly network: SolanaNetwork
  /** Host of the node. The rest of its URL may contain an API key. */
  readonly host: string
  /** Returns the balances of the addresses, in the same order. */
  balances(owners: readonly string[]): Promise<SolanaBalance[]>
  /** Returns the hash of a finalized block, 32 bytes in base58. */
  latestBlockHash(): Promise<string>
  /** Returns the outcome of a signed transaction, regardless of its sender. */
  transferOutcome(query: TransferQuery): Promise<TransferOutcome>
  close(): void
}

export type TransferQuery = {
  /** Address of the signer. */
  payer: string
  /** Recent block hash of the transaction. */
  blockHash: string
  /** Signature of the payer, 64 bytes, which identifies the transaction. */
  signature: Uint8Array
  /** Earliest time at which it can have been signed, in milliseconds since 1970. */
  sinceMs: number
  /** Expiry by the local clock: two minutes after signing. */
  validBeforeMs: number
}
/** `void`: not on the chain, and no block can include it any more. */
export type TransferOutcome = { state: 'open' | 'void' } | { state: 'paid'; transaction: string }

const balancesWithinMs = 6_000
const hashWithinMs = 10_000
/** Timeout of outcome queries, in milliseconds. Payers may have many transactions. */
const outcomeTimeoutMs = 30_000
/** A page of the history has a few hundred kilobytes. */
const maxAnswerBytes = 2 * 1024 * 1024
const pageRows = 1_000
const maxPages = 3
/**
 * Beyond this number of transactions the outcome stays unknown, so that flooding an account with transfers does not
 * release a reservation.
 */
const maxTransactions = 100
/** Maximum difference between the local clock and the cluster's, in milliseconds. */
const clockMs = 120_000
/** Time to live of cached results, in milliseconds. Older results do not cover later signatures. */
const cacheTtlMs = 60_000

const Base58 = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,88}$/)
const Context = z.object({ slot: z.int().nonnegative() })
const BlockHash = z.object({ value: z.object({ blockhash: Base58.max(44) }) })
const IsValid = z.object({ context: Context, value: z.boolean() })
const BlockTime = z.int().nonnegative()
const Row = z.object({
  signature: Base58,
  err: z.unknown(),
  blockTime: z.int().nonnegative().nullable().optional(),
})
const History = z.array(Row).max(pageRows)
const Transaction = z.object({
  transaction: z.tuple([z.base64().max(4_096), z.literal('base64')]),
  meta: z.object({ err: z.null() }),
})
const Reply = z.object({ result: z.unknown().optional(), error: z.object({ code: z.int() }).optional() })

export function createSolanaNode({ network, rpcUrl }: { network: SolanaNetwork; rpcUrl: string }): SolanaNode {
  const { host } = new URL(rpcUrl)
  const client = createHttpClient({ maxAnswerBytes })
  const createError = (facts: ChainErrorDetails) => new ChainError(host, facts)
  const asking = (withinMs: number): QueryContext => ({
    ...{ client, rpcUrl, createError, withinMs },
    signal: AbortSignal.timeout(withinMs),
  })

  /** The id of a network is a prefix of the hash of its first block. */
  const checkNetwork = async (on: QueryContext): Promise<void> => {
    const first = await query(on, Base58, 'getGenesisHash', [])
    if (!first.startsWith(network.id.slice('solana:'.length))) {
      throw createError({ kind: 'other-network', chainId: network.id })
    }
  }

  return {
    network,
    host,
    async balances(owners) {
      const on = asking(balancesWithinMs)
      await checkNetwork(on)
      const balances = await readSolanaBalances((...question) => query(on, ...question), network, owners)
      if (!balances) throw createError({ kind: 'unreadable' })
      return balances
    },
    async latestBlockHash() {
      const on = asking(hashWithinMs)
      await checkNetwork(on)
      const { value } = await query(on, BlockHash, 'getLatestBlockhash', [finalized])
      return value.blockhash
    },
    async transferOutcome({ payer, blockHash, signature, sinceMs, validBeforeMs }) {
      const on = asking(outcomeTimeoutMs)
      await checkNetwork(on)
      // Checks validity before the history: a transaction that lands in between is reported as open and queried again.
      const { context, value: isOpen } = await query(on, IsValid, 'isBlockhashValid', [blockHash, finalized])
      const source = await deriveTokenAccount(payer, network.usdc.address)
      const rows = await listHistory(on, { source, minContextSlot: context.slot, fromMs: sinceMs - clockMs })
      if (rows.length > maxTransactions) throw createError({ kind: 'too-large' })
      const { base58 } = await import('@scure/base')
      // Oldest first, because a transaction lands soon after signing or never.
      for (const row of rows.reverse()) {
        const parameters = [row.signature, { ...finalized, encoding: 'base64', maxSupportedTransactionVersion: 0 }]
        const { transaction } = await query(on, Transaction, 'getTransaction', parameters)
        const signatures = parseSignatures(Buffer.from(transaction[0], 'base64'))
        const [first] = signatures
        if (!first || base58.encode(first) !== row.signature) throw createError({ kind: 'unreadable' })
        if (signatures.some((it) => it.equals(signature))) return { state: 'paid', transaction: row.signature }
      }
      if (isOpen) return { state: 'open' }
      // A lagging node reports both new and expired block hashes as invalid.
      const seconds = await query(on, BlockTime, 'getBlockTime', [context.slot])
      return { state: seconds * 1000 < validBeforeMs - cacheTtlMs ? 'open' : 'void' }
    },
    close: () => client.close(),
  }
}

const finalized = { commitment: 'finalized' } as const

type QueryContext = {
  client: HttpClient
  rpcUrl: string
  createError: (facts: ChainErrorDetails) => ChainError
  signal: AbortSignal
  withinMs: number
}

async function query<T>(
  on: QueryContext,
  schema: z.ZodType<T>,
  method: string,
  params: readonly unknown[],
): Promise<T> {
  const { client, rpcUrl, createError, signal, withinMs } = on
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await client.ask(rpcUrl, { method: 'POST', headers, body, signal }).catch((error: unknown) => {
    if (signal.aborted) throw createError({ kind: 'late', afterMs: withinMs })
    throw createError({ kind: error instanceof ResponseTooLargeError ? 'too-large' : 'unreachable' })
  })
  const reply = Reply.safeParse(parseJsonOrUndefined(answer.text)).data
  if (reply?.error) throw createError({ kind: 'refused', code: reply.error.code })
  if (answer.status !== 200) throw createError({ kind: 'status', status: answer.status })
  const { data, success } = schema.safeParse(reply?.result)
  if (!success) throw createError({ kind: 'unreadable' })
  return data
}

type HistoryOptions = { source: string; minContextSlot: number; fromMs: number }

/** Lists successful transactions since `fromMs`, newest first. @throws ChainError beyond the limit */
async function listHistory(
  on: QueryContext,
  { source, minContextSlot, fromMs }: HistoryOptions,
): Promise<z.infer<typeof Row>[]> {
  const history: z.infer<typeof Row>[] = []
  let before: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const options = { ...finalized, minContextSlot, limit: pageRows, ...(before !== undefined && { before }) }
    const rows = await query(on, History, 'getSignaturesForAddress', [source, options])
    const late = rows.filter(({ blockTime }) => (blockTime ?? Number.POSITIVE_INFINITY) * 1000 >= fromMs)
    history.push(...late.filter(({ err }) => err === null))
    if (rows.length < pageRows || late.length < rows.length) return history
    before = rows.at(-1)?.signature
  }
  throw on.createError({ kind: 'too-large' })
}
