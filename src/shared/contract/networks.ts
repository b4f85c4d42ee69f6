/** A network that Steward knows. The signer takes its typed data from this table and from nowhere else. */
export type EvmNetwork = {
  /** CAIP-2: `eip155:<chain id>` */
  id: `eip155:${number}`
  /** As x402 version 1 writes it. */
  slug: string
  name: string
  chainId: number
  test: boolean
  /** Native USDC, with the EIP-712 domain that its contract verifies. 6 decimals. */
  usdc: { address: `0x${string}`; name: string; version: string }
}

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
 * The ledger of test money that a service keeps by itself. It is no chain: its asset is an address that no contract has, and
 * a wallet signs for it at its own embedded service only.
 */
export const testLedgerNetwork = {
  id: 'eip155:31337',
  slug: 'eip155:31337',
  name: 'Test ledger',
  chainId: 31337,
  test: true,
  usdc: { address: '0x7357000000000000000000000000000000031337', name: 'Test USDC', version: '2' },
} as const satisfies EvmNetwork

/** CAIP-2 of the chain accounts of each kind belong to, for CAIP-10 account ids. */
export const accountNetworks = { evm: 'eip155:8453', solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } as const

/** @param name `eip155:8453`, `base` or `8453` */
export function evmNetwork(name: string): EvmNetwork | undefined {
  return evmNetworks.find(({ id, slug, chainId }) => id === name || slug === name || String(chainId) === name)
}
