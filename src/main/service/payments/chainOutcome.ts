import type { EvmNetwork } from '../../../shared/contract/networks.ts'
import type { ChainClient } from './chainClient.ts'
import { alreadyUsed, expired, type Settlement, type SignedPayment } from './facilitator.ts'
import type { PaymentAuthorization } from './paymentAuthorization.ts'

/** Every node answers for so many blocks at once. */
const usualBlocksAtOnce = 1_000n
/** Clocks and blocks differ: so much earlier than the payment was seen here is looked too. */
const marginMs = 10 * 60_000

/**
 * What the chain itself knows of an authorization, whoever brought it there.
 * @returns `unused` where it can still be settled
 * @throws whatever keeps it from knowing
 */
export async function chainOutcome(
  chain: ChainClient,
  { network, blocksAtOnce = usualBlocksAtOnce }: { network: EvmNetwork; blocksAtOnce?: bigint | undefined },
  { authorization, createdAtMs }: SignedPayment,
): Promise<Settlement | { state: 'unused' }> {
  const { client, abi } = chain
  const { from, nonce, validBefore } = authorization
  const usdc = { address: network.usdc.address, abi } as const
  // The block first: what happens behind it is seen by the next call or the next time.
  const latest = await client.getBlock({ blockTag: 'latest' })
  const isUsed = await client.readContract({ ...usdc, functionName: 'authorizationState', args: [from, nonce] })
  if (!isUsed) return latest.timestamp >= BigInt(validBefore) ? { state: 'failed', ...expired } : { state: 'unused' }

  const since = BigInt(Math.floor((createdAtMs - marginMs) / 1000))
  let end = await client.getBlockNumber()
  for (;;) {
    const start = end > blocksAtOnce ? end - blocksAtOnce + 1n : 0n
    const logs = await client.getLogs({
      address: network.usdc.address,
      events: abi.filter((it) => it.type === 'event' && it.name !== 'Transfer'),
      fromBlock: start,
      toBlock: end,
      strict: true,
    } as Parameters<typeof client.getLogs>[0])
    for (const log of logs) {
      const { eventName, args, transactionHash } = log as unknown as Found
      if (args.authorizer?.toLowerCase() !== from || args.nonce !== nonce || transactionHash === null) continue
      if (eventName === 'AuthorizationCanceled') return { state: 'failed', ...alreadyUsed }
      if (await hasPaid(chain, network, { authorization, hash: transactionHash })) {
        return { state: 'settled', transaction: transactionHash }
      }
    }
    if (start === 0n || (await client.getBlock({ blockNumber: start })).timestamp < since) break
    end = start - 1n
  }
  return { state: 'unknown', message: 'The authorization was used, and the transaction is not found yet.' }
}

type Found = {
  eventName: string
  args: { authorizer?: string; nonce?: string }
  transactionHash: `0x${string}` | null
}

/** Whether this transaction moved what was signed. */
export async function hasPaid(
  { client, viem, abi }: ChainClient,
  { usdc }: EvmNetwork,
  { authorization, hash }: { authorization: PaymentAuthorization; hash: `0x${string}` },
): Promise<boolean> {
  const { status, logs } = await client.getTransactionReceipt({ hash })
  if (status !== 'success') return false
  const own = logs.filter(({ address }) => address.toLowerCase() === usdc.address.toLowerCase())
  const { from, to, value, nonce } = authorization
  const events = viem.parseEventLogs({ abi, logs: own })
  return (
    events.some(
      (it) => it.eventName === 'AuthorizationUsed' && isOf(it.args.authorizer, from) && it.args.nonce === nonce,
    ) &&
    events.some(
      ({ eventName, args }) =>
        eventName === 'Transfer' && isOf(args.from, from) && isOf(args.to, to) && args.value === BigInt(value),
    )
  )
}

function isOf(address: string, lowerCase: string): boolean {
  return address.toLowerCase() === lowerCase
}
