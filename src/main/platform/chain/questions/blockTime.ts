import type { OpenNode } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'

export async function blockTimeMs({ client, network, multicall }: OpenNode): Promise<number> {
  const [chainId, seconds] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
    ],
  })
  assertNetwork(network, chainId)
  return Number(requireResult(seconds)) * 1000
}
