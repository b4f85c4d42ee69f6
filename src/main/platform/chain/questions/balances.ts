import type { ContractFunctionParameters } from 'viem'
import type { ChainBalance } from '../chain.ts'
import type { OpenNode } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'

/** All of them, and the id of the chain they are of, in one call. */
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
  // One call, whatever its length.
  const [chainId, ...figures] = await client.multicall({ batchSize: 0, contracts })
  assertNetwork(network, chainId)
  return addresses.map((_, index) => ({ usdc: toNumber(figures[2 * index]), ether: toNumber(figures[2 * index + 1]) }))
}

function toNumber(result: Parameters<typeof requireResult>[0]): bigint {
  const figure = requireResult(result)
  if (typeof figure === 'bigint') return figure
  throw new Error('It is no number.')
}
