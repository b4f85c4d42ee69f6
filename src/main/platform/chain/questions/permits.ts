import { decodeFunctionData, parseAbi, parseEventLogs } from 'viem'
import { permit2 } from '#shared/contract/networks.ts'
import type { Hex, PermitOutcome, PermitQuery } from '../chain.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'

/** https://docs.uniswap.org/contracts/permit2/reference/signature-transfer */
const permitAbi = parseAbi(['function nonceBitmap(address owner, uint256 word) view returns (uint256)'])
/** https://github.com/x402-foundation/x402/blob/main/specs/schemes/upto/scheme_upto_evm.md */
const uptoAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; address facilitator; uint256 validAfter; }',
  'function settle(PermitTransferFrom permit, uint256 amount, address owner, Witness witness, bytes signature)',
])
const allowanceAbi = parseAbi(['function allowance(address owner, address spender) view returns (uint256)'])

export async function permitOutcome(node: OpenNode, query: PermitQuery): Promise<PermitOutcome> {
  const { client, network, multicall } = node
  const { from, deadline, nowMs } = query
  const nonce = BigInt(query.nonce)
  const [chainId, word, seconds] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { address: permit2.address, abi: permitAbi, functionName: 'nonceBitmap', args: [from, nonce >> 8n] },
      { ...multicall, functionName: 'getCurrentBlockTimestamp' },
    ],
  })
  assertNetwork(network, chainId)
  if ((requireResult(word) >> (nonce & 255n)) & 1n) {
    const settledAmount = await findSettledAmount(node, query)
    return {
      state: 'used',
      settledAmount,
      transaction: settledAmount === null ? null : query.transaction,
    }
  }
  const isPast = requireResult(seconds) > BigInt(deadline) && nowMs > Number(deadline) * 1000
  return { state: isPast ? 'expired' : 'unused' }
}

/**
 * Returns the amount that a settlement moved. The seller reports the transaction, so it is used only if it settles
 * exactly this permit, whose nonce can be used once, and moved that amount of USDC. Otherwise a seller could report the
 * transaction of another, smaller payment.
 */
async function findSettledAmount({ client, usdc }: OpenNode, query: PermitQuery): Promise<string | null> {
  const { from, to, nonce, amount, transaction: hash } = query
  if (hash === null) return null
  const [{ status, logs, transactionHash }, { input, to: called, hash: txHash }] = await Promise.all([
    client.getTransactionReceipt({ hash }),
    client.getTransaction({ hash }),
  ])
  if (transactionHash !== hash || txHash !== hash || status !== 'success') return null
  if (!isAddress(called, permit2.uptoSpender)) return null
  const settlement = parseSettlement(input)
  if (!settlement || settlement.nonce !== BigInt(nonce) || !isAddress(settlement.owner, from)) return null
  const ownLogs = logs.filter(({ address }) => isAddress(address, usdc.address))
  const [moved, ...others] = parseEventLogs({ abi: usdcAbi, logs: ownLogs, eventName: 'Transfer' }).filter(
    ({ args }) => isAddress(args.from, from) && isAddress(args.to, to),
  )
  const isWhole = moved?.args.value === settlement.amount && others.length === 0
  return isWhole && settlement.amount <= BigInt(amount) ? settlement.amount.toString() : null
}

/** Decodes a settlement. Returns undefined for other calls of the contract. */
function parseSettlement(data: Hex): { nonce: bigint; amount: bigint; owner: string } | undefined {
  try {
    const [{ nonce }, amount, owner] = decodeFunctionData({ abi: uptoAbi, data }).args
    return { nonce, amount, owner }
  } catch {
    return undefined
  }
}

export async function permitAllowance({ client, network, usdc, multicall }: OpenNode, owner: string): Promise<bigint> {
  const args = [owner as Hex, permit2.address] as const
  const [chainId, allowed] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { address: usdc.address, abi: allowanceAbi, functionName: 'allowance', args },
    ],
  })
  assertNetwork(network, chainId)
  return requireResult(allowed)
}

function isAddress(address: string | null, b: string): boolean {
  return address?.toLowerCase() === b.toLowerCase()
}
