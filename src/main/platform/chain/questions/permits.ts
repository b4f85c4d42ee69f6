import { parseAbi, parseEventLogs } from 'viem'
import { permit2 } from '../../../../shared/contract/networks.ts'
import type { AskedPermit, Hex, PermitOutcome } from '../chain.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { needed, needNetwork } from './multicallResults.ts'

/** https://docs.uniswap.org/contracts/permit2/reference/signature-transfer */
const permitAbi = parseAbi(['function nonceBitmap(address owner, uint256 word) view returns (uint256)'])
const allowanceAbi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

export async function permitOutcome(node: OpenNode, asked: AskedPermit): Promise<PermitOutcome> {
  const { client, network, multicall } = node
  const { from, deadline, nowMs } = asked
  const nonce = BigInt(asked.nonce)
  const [chainId, word, seconds] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { address: permit2.address, abi: permitAbi, functionName: 'nonceBitmap', args: [from, nonce >> 8n] },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
    ],
  })
  needNetwork(network, chainId)
  if ((needed(word) >> (nonce & 255n)) & 1n) {
    const taken = await takenIn(node, asked)
    return { state: 'used', taken, transaction: taken === null ? null : asked.transaction }
  }
  const isPast = needed(seconds) > BigInt(deadline) && nowMs > Number(deadline) * 1000
  return { state: isPast ? 'expired' : 'unused' }
}

/** The transaction is the seller's word: it counts where it moved USDC of this payer to this payee by the contract of `upto`. */
async function takenIn(
  { client, usdc }: OpenNode,
  { from, to, amount, transaction }: AskedPermit,
): Promise<string | null> {
  if (transaction === null) return null
  const { status, logs, transactionHash, to: called } = await client.getTransactionReceipt({ hash: transaction })
  if (transactionHash !== transaction || status !== 'success' || !isOf(called, permit2.uptoSpender)) return null
  const own = logs.filter(({ address }) => isOf(address, usdc.address))
  const moved = parseEventLogs({ abi: usdcAbi, logs: own, eventName: 'Transfer' }).filter(
    ({ args }) => isOf(args.from, from) && isOf(args.to, to),
  )
  const [one, other] = moved
  if (!one || other || one.args.value > BigInt(amount)) return null
  return one.args.value.toString()
}

export async function permitAllowance({ client, network, usdc, multicall }: OpenNode, owner: string): Promise<bigint> {
  const args = [owner as Hex, permit2.address] as const
  const [chainId, allowed] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { address: usdc.address, abi: allowanceAbi, functionName: 'allowance', args },
    ],
  })
  needNetwork(network, chainId)
  return needed(allowed)
}

function isOf(address: string | null, other: string): boolean {
  return address?.toLowerCase() === other.toLowerCase()
}
