import type { EvmNetwork } from '#shared/contract/networks.ts'

export type Hex = `0x${string}`

/**
 * One EVM network through one RPC node, which is not trusted: answers are limited in size and time, and count only while
 * the node serves the network that is meant. Every question rejects with a `ChainFailure`, or with the reason of its signal.
 */
export interface Chain {
  readonly network: EvmNetwork
  /** Host of the node for display. The rest of its URL may contain a key. */
  readonly host: string
  /** USDC and ether of these addresses in one call. @returns in their order */
  balances(addresses: readonly string[], limits?: Limits): Promise<ChainBalance[]>
  /** Outcome of a signed transfer, whichever sender submitted it. */
  authorizationOutcome(query: AuthorizationQuery, limits?: Limits): Promise<AuthorizationOutcome>
  /** Outcome of a Permit2 signature of the scheme `upto`. */
  permitOutcome(query: PermitQuery, limits?: Limits): Promise<PermitOutcome>
  /** USDC that this address lets Permit2 move. */
  permitAllowance(owner: string, limits?: Limits): Promise<bigint>
  /** Time of the newest block, in milliseconds since 1970. */
  blockTimeMs(options?: undefined, limits?: Limits): Promise<number>
  /** Whether the contract would take this transfer now; nothing is sent. */
  checkTransfer(transfer: SignedTransfer, limits?: Limits): Promise<TransferCheck>
  /** Estimates gas and fees of a transfer. */
  prepareTransfer(transfer: SignedTransfer, limits?: Limits): Promise<PreparedTransfer>
  sendTransfer(asked: TransferToSend, limits?: Limits): Promise<SubmittedTransfer>
  /** Receipt of a submitted transaction. */
  transferReceipt(query: { hash: Hex; transfer: TransferTerms }, limits?: Limits): Promise<TransferReceipt>
}

export type Limits = {
  signal?: AbortSignal | undefined
  /** From the moment that the chain client is loaded. */
  withinMs?: number | undefined
}

/** In atomic units. */
export type ChainBalance = { usdc: bigint; ether: bigint }

/** Terms of a transfer by EIP-3009. Hexadecimal in lower case, numbers as decimal text. */
export type TransferTerms = { from: Hex; to: Hex; value: string; nonce: Hex }
export type SignedTransfer = TransferTerms & {
  /** Unix seconds. */
  validAfter: string
  validBefore: string
  /** 65 bytes: r, s, v. */
  signature: Hex
}

export type AuthorizationQuery = TransferTerms & {
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

export type PermitQuery = {
  from: Hex
  to: Hex
  /** The most that was signed. */
  amount: string
  /** Decimal. */
  nonce: string
  /** Unix seconds. */
  deadline: string
  nowMs: number
  /** Transaction that the payee reports as the settlement. */
  transaction: Hex | null
}
/** `taken`: amount that the transaction moved by this permit. Null if the transaction does something else: unknown. */
export type PermitOutcome =
  | { state: 'unused' | 'expired' }
  | { state: 'used'; settledAmount: string | null; transaction: Hex | null }

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
  minNonce: number
  /** One with the same transfer that was sent earlier: it is replaced while it is in no block. */
  replaces?: SubmittedTransfer | undefined
}
export type SubmittedTransfer = { hash: Hex; nonce: number; fees: Fees }

/** `other`: it succeeded, and moved something else. */
export type TransferReceipt = 'none' | 'paid' | 'reverted' | 'other'

/** Every question by its name, as it goes to the thread. */
export type ChainQuestions = {
  [K in Exclude<keyof Chain, 'network' | 'host'>]: {
    query: Parameters<Chain[K]>[0]
    answer: Awaited<ReturnType<Chain[K]>>
  }
}
export type QuestionName = keyof ChainQuestions
