import { parseEventLogs } from 'viem'
import type { Hex, TransferReceipt, TransferTerms } from '../chain.ts'
import { type OpenNode, usdcAbi } from '../openNode.ts'

/** Whether the transaction moved the signed amount. @throws if there is no receipt yet */
export async function hasPaid(
  { client, usdc }: OpenNode,
  { from, to, value, nonce }: TransferTerms,
  hash: Hex,
): Promise<Exclude<TransferReceipt, 'none'>> {
  const { status, logs, transactionHash } = await client.getTransactionReceipt({ hash })
  if (transactionHash !== hash) throw new Error('The receipt belongs to another transaction.')
  if (status !== 'success') return 'reverted'
  const ownLogs = logs.filter(({ address }) => address.toLowerCase() === usdc.address.toLowerCase())
  const events = parseEventLogs({ abi: usdcAbi, logs: ownLogs })
  const isUsed = events.some(
    (log) => log.eventName === 'AuthorizationUsed' && isAddress(log.args.authorizer, from) && log.args.nonce === nonce,
  )
  const isMoved = events.some(
    (event) =>
      event.eventName === 'Transfer' &&
      isAddress(event.args.from, from) &&
      isAddress(event.args.to, to) &&
      event.args.value === BigInt(value),
  )
  return isUsed && isMoved ? 'paid' : 'other'
}

function isAddress(address: string, lowerCase: string): boolean {
  return address.toLowerCase() === lowerCase
}
