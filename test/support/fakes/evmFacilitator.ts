import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { createChainThread } from '#platform/chain/chainThread.ts'
import { silentLog } from '#platform/logging/log.ts'
import { createChainFacilitator } from '#service/payments/chainFacilitator.ts'
import type { EvmNetwork } from '#shared/contract/networks.ts'
import { testDollarAbi } from '../contracts/testContracts.ts'
import { createEvmNode, type EvmNode } from '../processes/evmNode.ts'

/** Starts a facilitator on a new chain, with a relayer that is funded with ether. */
export async function evmFacilitator(
  network: EvmNetwork,
  options: { settleWithinMs?: number; blocksAtOnce?: bigint } = {},
) {
  const node: EvmNode = await createEvmNode(network)
  const relayerKey = generatePrivateKey()
  await node.setEther(privateKeyToAccount(relayerKey).address, 10n ** 18n)
  const thread = createChainThread({ log: silentLog })
  const chain = thread.chain({ network, rpcUrl: node.url })
  const facilitator = createChainFacilitator({
    ...{ chain, relayerKey, log: silentLog, now: Date.now },
    ...options,
  })
  return {
    node,
    chain,
    facilitator,
    relayerKey,
    give: (address: string, atomic: number) => node.mint(address, BigInt(atomic)),
    balance: async (address: string) =>
      Number(
        await node.client.readContract({
          ...{ address: network.usdc.address, abi: testDollarAbi, functionName: 'balanceOf' },
          args: [address as `0x${string}`],
        }),
      ),
    async close() {
      await facilitator.close()
      await thread.close()
      await node.close()
    },
  }
}
