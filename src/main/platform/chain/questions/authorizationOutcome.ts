import type { AskedAuthorization, AuthorizationOutcome, Hex } from '../chain.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { needed, needNetwork } from './multicallResults.ts'
import { hasPaid } from './transferLogs.ts'

/** Every node answers for so many blocks at once. */
const usualBlocksAtOnce = 1_000n
/** Some nodes answer for as few as these. */
const fewestBlocksAtOnce = 10n
/** Clocks and blocks differ: so much earlier is looked too. */
const marginMs = 10 * 60_000

export async function authorizationOutcome(node: OpenNode, asked: AskedAuthorization): Promise<AuthorizationOutcome> {
  const { client, network, usdc, multicall } = node
  const { from, nonce, validBefore, nowMs } = asked
  // One call: its facts are of one block.
  const [chainId, isUsed, seconds, block] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { ...usdc, functionName: 'authorizationState', args: [from, nonce] },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
      { ...multicall, functionName: 'getBlockNumber' },
    ],
  })
  needNetwork(network, chainId)
  if (needed(isUsed)) return whatUsedIt(node, asked, needed(block))
  const isPast = needed(seconds) >= BigInt(validBefore) && nowMs >= Number(validBefore) * 1000
  return { state: isPast ? 'expired' : 'unused' }
}

/** Backwards through the logs of this authorization, until a time at which it cannot have been used. */
async function whatUsedIt(node: OpenNode, asked: AskedAuthorization, block: bigint): Promise<AuthorizationOutcome> {
  const { client } = node
  const since = BigInt(Math.max(0, Math.floor((asked.sinceMs - marginMs) / 1000)))
  let atOnce = asked.blocksAtOnce ?? usualBlocksAtOnce
  // A transaction may have come since the call: whatever the node has by now counts.
  let end = maximum(block, await client.getBlockNumber())
  for (;;) {
    const start = end >= atOnce ? end - atOnce + 1n : 0n
    let found: Found
    try {
      found = await usesBetween(node, asked, { start, end })
    } catch (failure) {
      if (atOnce <= fewestBlocksAtOnce) throw failure
      atOnce = maximum(atOnce / 10n, fewestBlocksAtOnce)
      continue
    }
    if (found.cancelled) return { state: 'cancelled' }
    for (const transaction of found.transactions) {
      const transfer = await hasPaid(node, asked, transaction)
      if (transfer === 'paid') return { state: 'paid', transaction }
      if (transfer === 'other') return { state: 'used-otherwise' }
    }
    if (start === 0n || (await client.getBlock({ blockNumber: start })).timestamp < since) return { state: 'used' }
    end = start - 1n
  }
}

type Found = { transactions: Hex[]; cancelled: boolean }

async function usesBetween(
  { client, usdc }: OpenNode,
  { from, nonce }: AskedAuthorization,
  { start, end }: { start: bigint; end: bigint },
): Promise<Found> {
  const logsOf = async (name: 'AuthorizationUsed' | 'AuthorizationCanceled') => {
    const event = name === 'AuthorizationUsed' ? usedEvent : cancelledEvent
    const logs = await client.getLogs({
      ...{ address: usdc.address, event, args: { authorizer: from, nonce }, strict: true },
      ...{ fromBlock: start, toBlock: end },
    })
    // A node may answer with what nobody asked for.
    return logs.filter(
      ({ address, args, transactionHash }) =>
        address.toLowerCase() === usdc.address.toLowerCase() &&
        args.authorizer.toLowerCase() === from &&
        args.nonce === nonce &&
        transactionHash !== null,
    )
  }
  const [used, cancelled] = await Promise.all([logsOf('AuthorizationUsed'), logsOf('AuthorizationCanceled')])
  return { transactions: used.map(({ transactionHash }) => transactionHash), cancelled: cancelled.length > 0 }
}

const [usedEvent, cancelledEvent] = [usdcAbi[3], usdcAbi[4]] as const

function maximum(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
