/** Supported EVM network. The signer takes typed data only from this table. */
export type EvmNetwork = {
  /** CAIP-2 id: `eip155:<chain id>` */
  id: `eip155:${number}`
  /** Name in x402 version 1. */
  slug: string
  name: string
  chainId: number
  test: boolean
  /** Native USDC, with the EIP-712 domain that its contract verifies. 6 decimals. */
  usdc: { address: `0x${string}`; name: string; version: string }
}

/**
 * Supported Solana network. USDC belongs to the SPL Token program; a Token-2022 mint with a similar name is a different
 * token.
 */
export type SolanaNetwork = {
  /** CAIP-2 id: the first 32 characters of the genesis hash in base58. */
  id: `solana:${string}`
  /** Name in x402 version 1. */
  slug: string
  name: string
  test: boolean
  /** Mint address. 6 decimals. */
  usdc: { address: string }
}

/** Decimals of USDC. */
export const usdcDecimals = 6

/** Circle's list: https://developers.circle.com/stablecoins/usdc-contract-addresses */
export const evmNetworks = [
  {
    id: 'eip155:8453',
    slug: 'base',
    name: 'Base',
    chainId: 8453,
    test: false,
    usdc: { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', name: 'USD Coin', version: '2' },
  },
  {
    id: 'eip155:84532',
    slug: 'base-sepolia',
    name: 'Base Sepolia',
    chainId: 84532,
    test: true,
    usdc: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', name: 'USDC', version: '2' },
  },
] as const satisfies readonly EvmNetwork[]

/**
 * Ledger of test money in a service. Not a chain: no contract has the address of its asset, and the wallet signs for it
 * only at its embedded service.
 */
export const testLedgerNetwork = {
  id: 'eip155:31337',
  slug: 'eip155:31337',
  name: 'Test ledger',
  chainId: 31337,
  test: true,
  usdc: { address: '0x7357000000000000000000000000000000031337', name: 'Test USDC', version: '2' },
} as const satisfies EvmNetwork

/**
 * Contracts of `upto` on every EVM network: Uniswap's Permit2, and the x402 contract that transfers at most the signed
 * amount to the signed payee. Steward never signs for the x402 contract with a similar address, 0x402085c2…, which
 * transfers exactly the signed amount.
 * @see https://github.com/coinbase/x402/tree/main/contracts/evm
 */
export const permit2 = {
  address: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  uptoSpender: '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002',
} as const

/** Circle's list: https://developers.circle.com/stablecoins/usdc-contract-addresses */
export const solanaNetworks = [
  {
    id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    slug: 'solana',
    name: 'Solana',
    test: false,
    usdc: { address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  },
  {
    id: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    slug: 'solana-devnet',
    name: 'Solana Devnet',
    test: true,
    usdc: { address: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
  },
] as const satisfies readonly SolanaNetwork[]

/** CAIP-2 chain of each kind of account, for CAIP-10 account ids. */
export const accountNetworks = { evm: 'eip155:8453', solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } as const

/** @param name `eip155:8453`, `base` or `8453` */
export function findEvmNetwork(name: string): EvmNetwork | undefined {
  return evmNetworks.find(({ id, slug, chainId }) => id === name || slug === name || String(chainId) === name)
}

/** @param name `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp` or `solana` */
export function findSolanaNetwork(name: string): SolanaNetwork | undefined {
  return solanaNetworks.find(({ id, slug }) => id === name || slug === name)
}

/** Normalizes an address for comparison: hexadecimal to lower case; base58 unchanged, because it is case-sensitive. */
export function normalizeAddress(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address
}
