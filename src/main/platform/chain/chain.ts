import type { EvmNetwork } from '#shared/contract/networks.ts'

export type Hex = `0x${string}`

/**
 * One EVM network through one RPC node, which is not trusted: answers are limited in size and time, and count only while
 * the node serves the network that is meant. Every question rejects with a `ChainFailure`, or with the reason of its signal.
 */
export interface Chain {
  readonly network: EvmNetwork
  /** What a person may see of the node's address: the rest may hold a key. */
  readonly host: string
  /** USDC and ether of these addresses in one call. @returns in their order */
  balances(addresses: readonly string[], limits?: Limits): Promise<ChainBalance[]>
  /** What became of a signed transfer, whoever brought it to the chain. */
  authorizationOutcome(asked: AskedAuthorization, limits?: Limits): Promise<AuthorizationOutcome>
  /** What became of what was signed for Permit2 by `upto`. */
  permitOutcome(asked: AskedPermit, limits?: Limits): Promise<PermitOutcome>
  /** USDC that this address lets Permit2 move. */
  permitAllowance(owner: string, limits?: Limits): Promise<bigint>
  /** Time of the newest block, in milliseconds since 1970. */
  blockTimeMs(asked?: undefined, limits?: Limits): Promise<number>
  /** Whether the contract would take this transfer now; nothing is sent. */
  checkTransfer(transfer: SignedTransfer, limits?: Limits): Promise<TransferCheck>
  /** What sending this transfer takes. */
  prepareTransfer(transfer: SignedTransfer, limits?: Limits): Promise<PreparedTransfer>
  sendTransfer(asked: TransferToSend, limits?: Limits): Promise<SentTransfer>
  /** Of a transaction that was sent. */
  transferReceipt(asked: { hash: Hex; transfer: TransferTerms }, limits?: Limits): Promise<TransferReceipt>
}

export type Limits = {
  signal?: AbortSignal | undefined
  /** From the moment that the chain client is loaded. */
  withinMs?: number | undefined
}

/** In atomic units. */
export type ChainBalance = { usdc: bigint; ether: bigint }

/** What moves by EIP-3009. Hexadecimal in lower case, numbers as decimal text. */
export type TransferTerms = { from: Hex; to: Hex; value: string; nonce: Hex }
export type SignedTransfer = TransferTerms & {
  /** Unix seconds. */
  validAfter: string
  validBefore: string
  /** 65 bytes: r, s, v. */
  signature: Hex
}

export type AskedAuthorization = TransferTerms & {
  /** Unix seconds. */
  validBefore: string
  /** The transfer cannot have happened much earlier. */
  sinceMs: number
  /** By our own clock: a node's clock alone never says that something has expired. */
  nowMs: number
  /** Blocks for which logs are asked at once. */
  blocksAtOnce?: bigint | undefined
}

/**
 * - `unused`: it can still be settled.
 * - `expired`: it was not used, and never can be.
 * - `paid`: this transaction moved exactly what was signed.
 * - `cancelled`, `used-otherwise`: its nonce is gone without this transfer.
 * - `used`: its transaction was not found yet.
 */
export type AuthorizationOutcome =
  | { state: 'unused' | 'expired' | 'cancelled' | 'used-otherwise' | 'used' }
  | { state: 'paid'; transaction: Hex }

export type AskedPermit = {
  from: Hex
  to: Hex
  /** The most that was signed. */
  amount: string
  /** Decimal. */
  nonce: string
  /** Unix seconds. */
  deadline: string
  nowMs: number
  /** Where it is said to be settled. */
  transaction: Hex | null
}
/** `taken`: what that transaction moved by this permit; null where it is of something else, so that nobody knows how much it was. */
export type PermitOutcome =
  | { state: 'unused' | 'expired' }
  | { state: 'used'; taken: string | null; transaction: Hex | null }

export type TransferCheck = 'fine' | 'used' | 'too-little' | 'refused'

export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
export type PreparedTransfer = { state: 'refused' } | { state: 'ready'; gas: bigint; fees: Fees }

export type TransferToSend = {
  transfer: SignedTransfer
  gas: bigint
  fees: Fees
  /** Pays for the gas. */
  relayerKey: Hex
  /** Transactions of the relayer before this one, as far as the caller knows; the node may know of more. */
  leastNonce: number
  /** One with the same transfer that was sent earlier: it is replaced while it is in no block. */
  replaces?: SentTransfer | undefined
}
export type SentTransfer = { hash: Hex; nonce: number; fees: Fees }

/** `other`: it succeeded, and moved something else. */
export type TransferReceipt = 'none' | 'paid' | 'reverted' | 'other'

/** Every question by its name, as it goes to the thread. */
export type ChainQuestions = {
  [K in Exclude<keyof Chain, 'network' | 'host'>]: {
    asked: Parameters<Chain[K]>[0]
    answer: Awaited<ReturnType<Chain[K]>>
  }
}
export type QuestionName = keyof ChainQuestions
