import { encodeFunctionData, keccak256, TransactionReceiptNotFoundError } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type {
  Fees,
  Hex,
  PreparedTransfer,
  SentTransfer,
  SignedTransfer,
  TransferCheck,
  TransferReceipt,
  TransferTerms,
  TransferToSend,
} from '../chain.ts'
import { isRefusedByContract } from '../failureFacts.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'
import { needed, needNetwork } from './multicallResults.ts'
import { hasPaid } from './transferLogs.ts'

/** In one call, so that all of it is of one block. Anybody may hand in a transfer, so a contract may try it too. */
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
      { ...usdc, functionName: 'transferWithAuthorization', args: partsOf(transfer) },
    ],
  })
  needNetwork(network, chainId)
  if (needed(isUsed)) return 'used'
  if (needed(balance) < BigInt(value)) return 'too-little'
  return trial.status === 'success' ? 'fine' : 'refused'
}

export async function prepareTransfer({ client, usdc }: OpenNode, transfer: SignedTransfer): Promise<PreparedTransfer> {
  const call = { ...usdc, functionName: 'transferWithAuthorization', args: partsOf(transfer) } as const
  const [gas, fees] = await Promise.all([
    client.estimateContractGas({ ...call, account: anybody }).catch((failure: unknown) => {
      if (isRefusedByContract(failure)) return undefined
      throw failure
    }),
    client.estimateFeesPerGas(),
  ])
  if (gas === undefined) return { state: 'refused' }
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  return { state: 'ready', gas: (gas * 12n) / 10n, fees: { maxFeePerGas, maxPriorityFeePerGas } }
}

export async function sendTransfer(
  { client, network, usdc }: OpenNode,
  { transfer, gas, fees, relayerKey, leastNonce, replaces }: TransferToSend,
): Promise<SentTransfer> {
  const relayer = privateKeyToAccount(relayerKey)
  const count = async (blockTag: 'latest' | 'pending') =>
    client.getTransactionCount({ address: relayer.address, blockTag })
  const replaced = replaces && (await count('latest')) <= replaces.nonce ? replaces : undefined
  const nonce = replaced ? replaced.nonce : Math.max(await count('pending'), leastNonce)
  const paid = replaced ? higherFees(fees, replaced.fees) : fees
  const serializedTransaction = await relayer.signTransaction({
    ...paid,
    ...{ chainId: network.chainId, type: 'eip1559', to: usdc.address, nonce, gas },
    data: encodeFunctionData({
      abi: usdcAbi,
      functionName: 'transferWithAuthorization',
      args: partsOf(transfer),
    }),
  })
  await client.sendRawTransaction({ serializedTransaction })
  return { hash: keccak256(serializedTransaction), nonce, fees: paid }
}

export async function transferReceipt(
  node: OpenNode,
  { hash, transfer }: { hash: Hex; transfer: TransferTerms },
): Promise<TransferReceipt> {
  try {
    return await hasPaid(node, transfer, hash)
  } catch (failure) {
    if (failure instanceof TransactionReceiptNotFoundError) return 'none'
    throw failure
  }
}

/** Nodes take another transaction in the place of one only for a tenth more; a quarter leaves no doubt. */
function higherFees(now: Fees, before: Fees): Fees {
  const higher = (one: bigint, other: bigint) => {
    const more = (other * 5n) / 4n + 1n
    return one > more ? one : more
  }
  return {
    maxFeePerGas: higher(now.maxFeePerGas, before.maxFeePerGas),
    maxPriorityFeePerGas: higher(now.maxPriorityFeePerGas, before.maxPriorityFeePerGas),
  }
}

/** Whoever it is: the contract asks who signed, not who sends. */
const anybody = '0x0000000000000000000000000000000000000001'

function partsOf({ signature, ...it }: SignedTransfer) {
  return [
    it.from,
    it.to,
    BigInt(it.value),
    BigInt(it.validAfter),
    BigInt(it.validBefore),
    it.nonce,
    Number(`0x${signature.slice(130)}`),
    signature.slice(0, 66) as Hex, // of 65 bytes in hexadecimal, as checked before
    `0x${signature.slice(66, 130)}`,
  ] as const
}
