import type { EvmNetwork } from '#shared/contract/networks.ts'

export type Hex = `0x${string}`

/**
 * Client of one EVM network through one RPC node. The node is not trusted: responses are limited in size and time, and
 * are used only if the node reports the expected chain id. Every query rejects with a `ChainError` or the reason of
 * its signal.
 */
export interface Chain {
  readonly network: EvmNetwork
  /** Host of the node for display. The rest of the URL may contain an API key. */
  readonly host: string
  /** Returns the USDC and ether balances of the addresses in one call, in the same order. */
  balances(addresses: readonly string[], limits?: Limits): Promise<ChainBalance[]>
  /** Returns the outcome of a signed transfer, regardless of its sender. */
  authorizationOutcome(query: AuthorizationQuery, limits?: Limits): Promise<AuthorizationOutcome>
  /** Returns the outcome of a Permit2 signature of the `upto` scheme. */
  permitOutcome(query: PermitQuery, limits?: Limits): Promise<PermitOutcome>
  /** Returns the USDC allowance of Permit2 for this address. */
  permitAllowance(owner: string, limits?: Limits): Promise<bigint>
  /** Returns the time of the latest block, in milliseconds since 1970. */
  blockTimeMs(options?: undefined, limits?: Limits): Promise<number>
  /** Simulates a transfer without sending it. */
  checkTransfer(transfer: SignedTransfer, limits?: Limits): Promise<TransferCheck>
  /** Estimates gas and fees of a transfer. */
  prepareTransfer(transfer: SignedTransfer, limits?: Limits): Promise<PreparedTransfer>
  sendTransfer(request: TransferToSend, limits?: Limits): Promise<SubmittedTransfer>
  transferReceipt(query: { hash: Hex; transfer: TransferTerms }, limits?: Limits): Promise<TransferReceipt>
}

export type Limits = {
  signal?: AbortSignal | undefined
  /** Timeout, measured from when the chain client is loaded. */
  withinMs?: number | undefined
}

/** Balances in atomic units. */
export type ChainBalance = { usdc: bigint; ether: bigint }

/** Terms of an EIP-3009 transfer. Hexadecimal in lower case, numbers as decimal text. */
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
  /** Earliest time at which the transfer can have happened, approximately. */
  sinceMs: number
  /** Time of the local clock, because a node's clock alone must not expire an authorization. */
  nowMs: number
  /** Block range of one log query. */
  blocksAtOnce?: bigint | undefined
}

/**
 * - `unused`: can still be settled. - `expired`: was not used and can no longer be used. - `paid`: the transaction
 * moved exactly the signed amount. - `cancelled`, `used-otherwise`: the nonce was used without this transfer. - `used`:
 * the transaction was not found yet.
 */
export type AuthorizationOutcome =
  | { state: 'unused' | 'expired' | 'cancelled' | 'used-otherwise' | 'used' }
  | { state: 'paid'; transaction: Hex }

export type PermitQuery = {
  from: Hex
  to: Hex
  /** Maximum amount that was signed. */
  amount: string
  nonce: string
  /** Unix seconds. */
  deadline: string
  nowMs: number
  /** Transaction that the payee reports as the settlement. */
  transaction: Hex | null
}
/**
 * `taken`: amount that the transaction moved with this permit, or null if the transaction does something else or is
 * unknown.
 */
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
  /** Private key of the account that pays for gas. */
  relayerKey: Hex
  /** Number of the relayer's earlier transactions known to the caller. The node may report a higher nonce. */
  minNonce: number
  /** Earlier transaction with the same transfer. Replaced unless it is already in a block. */
  replaces?: SubmittedTransfer | undefined
}
export type SubmittedTransfer = { hash: Hex; nonce: number; fees: Fees }

/** `other`: succeeded, but moved something else. */
export type TransferReceipt = 'none' | 'paid' | 'reverted' | 'other'

/** Queries by name, as sent to the worker thread. */
export type ChainQueries = {
  [K in Exclude<keyof Chain, 'network' | 'host'>]: {
    query: Parameters<Chain[K]>[0]
    answer: Awaited<ReturnType<Chain[K]>>
  }
}
export type QueryName = keyof ChainQueries
