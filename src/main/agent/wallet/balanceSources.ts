import type { Chain } from '#platform/chain/chain.ts'
import type { SolanaNode } from '#platform/solana/solanaNode.ts'
import type { EvmNetwork, SolanaNetwork } from '#shared/contract/networks.ts'

/** Source of the balances on one network, through one node. */
export type BalanceSource = {
  network: EvmNetwork | SolanaNetwork
  /** Host of the node, without secrets that its URL may contain. */
  host: string
  /** @returns balances in atomic units, in the order of the addresses; `coin` is ether or SOL */
  balances(addresses: readonly string[]): Promise<{ usdc: bigint; coin: bigint }[]>
}

type Nodes = {
  chains: readonly Pick<Chain, 'network' | 'host' | 'balances'>[]
  solana: readonly Pick<SolanaNode, 'network' | 'host' | 'balances'>[]
}

export function createBalanceSources({ chains, solana }: Nodes): BalanceSource[] {
  return [
    ...chains.map((chain) => ({
      ...{ network: chain.network, host: chain.host },
      balances: async (addresses: readonly string[]) =>
        (await chain.balances(addresses)).map(({ usdc, ether }) => ({ usdc, coin: ether })),
    })),
    ...solana.map((node) => ({
      ...{ network: node.network, host: node.host },
      balances: async (addresses: readonly string[]) =>
        (await node.balances(addresses)).map(({ usdc, lamports }) => ({ usdc, coin: lamports })),
    })),
  ]
}
