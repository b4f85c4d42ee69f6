import { encodeFunctionData, keccak256, TransactionReceiptNotFoundError } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type {
  Fees,
  Hex,
  PreparedTransfer,
  SignedTransfer,
  SubmittedTransfer,
  TransferCheck,
  TransferReceipt,
  TransferTerms,
  TransferToSend,
} from '../chain.ts'
import { isContractRevert } from '../failureFacts.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { assertNetwork, requireResult } from './multicallResults.ts'
import { hasPaid } from './transferLogs.ts'

/**
 * A single call, so that all results are of one block. Anyone may submit a transfer, so Multicall3 can simulate it.
 */
export async function checkTransfer(
  { client, network, usdc, multicall }: OpenNode,
  transfer: SignedTransfer,
): Promise<TransferCheck> {
  const { from, nonce, value } = transfer
  const [chainId, balance, isUsed, trial] = await client.multicall({
    contracts: [
      { ...multicall, functionName: 'getChainId' },
      { ...usdc, functionName: 'balanceOf', args: [from] },
      { ...usdc, functionName: 'authorizationState', args: [from, nonce] },
      { ...usdc, functionName: 'transferWithAuthorization', args: toParts(transfer) },
    ],
  })
  assertNetwork(network, chainId)
  if (requireResult(isUsed)) return 'used'
  if (requireResult(balance) < BigInt(value)) return 'too-little'
  return trial.status === 'success' ? 'fine' : 'refused'
}

export async function prepareTransfer({ client, usdc }: OpenNode, transfer: SignedTransfer): Promise<PreparedTransfer> {
  const call = { ...usdc, functionName: 'transferWithAuthorization', args: toParts(transfer) } as const
  const [gas, fees] = await Promise.all([
    client.estimateContractGas({ ...call, account: anybody }).catch((error: unknown) => {
      if (isContractRevert(error)) return undefined
      throw error
    }),
    client.estimateFeesPerGas(),
  ])
  if (gas === undefined) return { state: 'refused' }
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  return { state: 'ready', gas: (gas * 12n) / 10n, fees: { maxFeePerGas, maxPriorityFeePerGas } }
}

export async function sendTransfer(
  { client, network, usdc }: OpenNode,
  { transfer, gas, fees, relayerKey, minNonce, replaces }: TransferToSend,
): Promise<SubmittedTransfer> {
  const relayer = privateKeyToAccount(relayerKey)
  const count = async (blockTag: 'latest' | 'pending') =>
    client.getTransactionCount({ address: relayer.address, blockTag })
  const replaced = replaces && (await count('latest')) <= replaces.nonce ? replaces : undefined
  const nonce = replaced ? replaced.nonce : Math.max(await count('pending'), minNonce)
  const paid = replaced ? raiseFees(fees, replaced.fees) : fees
  const serializedTransaction = await relayer.signTransaction({
    ...paid,
    ...{ chainId: network.chainId, type: 'eip1559', to: usdc.address, nonce, gas },
    data: encodeFunctionData({
      abi: usdcAbi,
      functionName: 'transferWithAuthorization',
      args: toParts(transfer),
    }),
  })
  await client.sendRawTransaction({ serializedTransaction })
  return { hash: keccak256(serializedTransaction), nonce, fees: paid }
}

export async function findTransferReceipt(
  node: OpenNode,
  { hash, transfer }: { hash: Hex; transfer: TransferTerms },
): Promise<TransferReceipt> {
  try {
    return await hasPaid(node, transfer, hash)
  } catch (error) {
    if (error instanceof TransactionReceiptNotFoundError) return 'none'
    throw error
  }
}

/** Nodes replace a transaction only if its fees are at least 10 % higher. 25 % leaves a margin. */
function raiseFees(now: Fees, before: Fees): Fees {
  const higher = (a: bigint, b: bigint) => {
    const more = (b * 5n) / 4n + 1n
    return a > more ? a : more
  }
  return {
    maxFeePerGas: higher(now.maxFeePerGas, before.maxFeePerGas),
    maxPriorityFeePerGas: higher(now.maxPriorityFeePerGas, before.maxPriorityFeePerGas),
  }
}

/** Arbitrary sender: the contract checks the signer, not the sender. */
const anybody = '0x0000000000000000000000000000000000000001'

function toParts({ signature, ...rest }: SignedTransfer) {
  return [
    rest.from,
    rest.to,
    BigInt(rest.value),
    BigInt(rest.validAfter),
    BigInt(rest.validBefore),
    rest.nonce,
    Number(`0x${signature.slice(130)}`),
    signature.slice(0, 66) as Hex, // 65 bytes in hexadecimal, validated before
    `0x${signature.slice(66, 130)}`,
  ] as const
}
