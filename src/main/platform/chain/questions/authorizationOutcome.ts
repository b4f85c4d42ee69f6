import type { AuthorizationOutcome, AuthorizationQuery, Hex } from '../chain.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'
import { hasPaid } from './transferLogs.ts'

/** Block range that every node supports. */
const defaultBlockRange = 1_000n
/** Smallest block range that some nodes support. */
const minBlockRange = 10n
/** Margin before the earliest time, because clocks and block times differ. */
const marginMs = 10 * 60_000

export async function findAuthorizationOutcome(
  node: OpenNode,
  query: AuthorizationQuery,
): Promise<AuthorizationOutcome> {
  const { client, network, usdc, multicall } = node
  const { from, nonce, validBefore, nowMs } = query
  // A single call, so that all results are of the same block.
  const [chainId, isUsed, seconds, block] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { ...usdc, functionName: 'authorizationState', args: [from, nonce] },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
      { ...multicall, functionName: 'getBlockNumber' },
    ],
  })
  assertNetwork(network, chainId)
  if (requireResult(isUsed)) return findUse(node, query, requireResult(block))
  const isPast = requireResult(seconds) >= BigInt(validBefore) && nowMs >= Number(validBefore) * 1000
  return { state: isPast ? 'expired' : 'unused' }
}

/** Searches the logs of this authorization backwards, until a time before which it cannot have been used. */
async function findUse(node: OpenNode, query: AuthorizationQuery, block: bigint): Promise<AuthorizationOutcome> {
  const { client } = node
  const since = BigInt(Math.max(0, Math.floor((query.sinceMs - marginMs) / 1000)))
  let atOnce = query.blocksAtOnce ?? defaultBlockRange
  // Starts at the node's latest block, which may be newer than the one of the call.
  let end = getMaximum(block, await client.getBlockNumber())
  for (;;) {
    const start = end >= atOnce ? end - atOnce + 1n : 0n
    let uses: UseLogs
    try {
      uses = await listUses(node, query, { start, end })
    } catch (error) {
      if (atOnce <= minBlockRange) throw error
      atOnce = getMaximum(atOnce / 10n, minBlockRange)
      continue
    }
    if (uses.cancelled) return { state: 'cancelled' }
    for (const transaction of uses.transactions) {
      const transfer = await hasPaid(node, query, transaction)
      if (transfer === 'paid') return { state: 'paid', transaction }
      if (transfer === 'other') return { state: 'used-otherwise' }
    }
    if (start === 0n || (await client.getBlock({ blockNumber: start })).timestamp < since) return { state: 'used' }
    end = start - 1n
  }
}

type UseLogs = { transactions: Hex[]; cancelled: boolean }

async function listUses(
  { client, usdc }: OpenNode,
  { from, nonce }: AuthorizationQuery,
  { start, end }: { start: bigint; end: bigint },
): Promise<UseLogs> {
  const listLogs = async (name: 'AuthorizationUsed' | 'AuthorizationCanceled') => {
    const event = name === 'AuthorizationUsed' ? usedEvent : cancelledEvent
    const logs = await client.getLogs({
      ...{ address: usdc.address, event, args: { authorizer: from, nonce }, strict: true },
      ...{ fromBlock: start, toBlock: end },
    })
    // A node may return logs that do not match the query.
    return logs.filter(
      ({ address, args, transactionHash }) =>
        address.toLowerCase() === usdc.address.toLowerCase() &&
        args.authorizer.toLowerCase() === from &&
        args.nonce === nonce &&
        transactionHash !== null,
    )
  }
  const [used, cancelled] = await Promise.all([listLogs('AuthorizationUsed'), listLogs('AuthorizationCanceled')])
  return { transactions: used.map(({ transactionHash }) => transactionHash), cancelled: cancelled.length > 0 }
}

const [usedEvent, cancelledEvent] = [usdcAbi[3], usdcAbi[4]] as const

function getMaximum(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
