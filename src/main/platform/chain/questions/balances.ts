import type { ContractFunctionParameters } from 'viem'
import type { ChainBalance } from '../chain.ts'
import type { OpenNode } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'

/** Reads all balances and the chain id in one call. */
export async function readBalances(
  { client, network, usdc, multicall }: OpenNode,
  addresses: readonly string[],
): Promise<ChainBalance[]> {
  const contracts: ContractFunctionParameters[] = [
    { ...multicall, functionName: 'getChainId' },
    ...addresses.flatMap((account) => [
      { ...usdc, functionName: 'balanceOf', args: [account] },
      { ...multicall, functionName: 'getEthBalance', args: [account] },
    ]),
  ]
  // A single call for any number of addresses.
  const [chainId, ...figures] = await client.multicall({ batchSize: 0, contracts })
  assertNetwork(network, chainId)
  return addresses.map((_, index) => ({ usdc: toNumber(figures[2 * index]), ether: toNumber(figures[2 * index + 1]) }))
}

function toNumber(result: Parameters<typeof requireResult>[0]): bigint {
  const figure = requireResult(result)
  if (typeof figure === 'bigint') return figure
  throw new Error('The balance is not a number.')
}
