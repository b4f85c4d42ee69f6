import type { OpenNode } from '../openNode.ts'
import { needed, needNetwork } from './multicallResults.ts'

export async function blockTimeMs({ client, network, multicall }: OpenNode): Promise<number> {
  const [chainId, seconds] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
    ],
  })
  needNetwork(network, chainId)
  return Number(needed(seconds)) * 1000
}
