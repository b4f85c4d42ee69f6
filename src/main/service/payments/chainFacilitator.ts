import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain, SubmittedTransfer, TransferCheck } from '#platform/chain/chain.ts'
import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import type { Log } from '#platform/logging/log.ts'
import { describeChainError, readChainOutcome } from './chainOutcome.ts'
import { alreadyUsed, type Facilitator, type Settlement, type SignedPayment, tooLittle } from './facilitator.ts'
import type { PaymentAuthorization, Refusal } from './paymentAuthorization.ts'

/** Time to wait for a receipt after sending. Later the outcome is unknown until the next chain query. */
const defaultSettleWithinMs = 30_000
const askEveryMs = 250
/** Consecutive errors of a node after which payers are asked to retry instead of waiting. */
const maxFailures = 4

/** Creates a facilitator that settles on a chain directly. Its own key pays for gas and has no other rights. */
export function createChainFacilitator(options: {
  chain: Chain
  relayerKey: `0x${string}`
  log: Log
  now: () => number
  settleWithinMs?: number
  blocksAtOnce?: bigint
}): Facilitator {
  const { chain, relayerKey, log, now, settleWithinMs = defaultSettleWithinMs, blocksAtOnce } = options
  const closing = new AbortController()
  const limits = { signal: closing.signal, withinMs: 10_000 }
  const askingFor = { chain, now, blocksAtOnce, limits }
  const relayer = createTransferRelay({ chain, relayerKey, limits })

  /** @returns undefined if no receipt arrived in time, or the transaction failed */
  const waitForReceipt = async (
    { authorization }: SignedPayment,
    { hash }: SubmittedTransfer,
  ): Promise<Settlement | undefined> => {
    const untilMs = now() + settleWithinMs
    let failures = 0
    while (now() < untilMs && failures < maxFailures && !closing.signal.aborted) {
      const request = chain.transferReceipt({ hash, transfer: authorization }, limits)
      const receipt = await request.catch(() => 'failed' as const)
      if (receipt === 'paid') return { state: 'settled', transaction: hash }
      if (receipt === 'reverted' || receipt === 'other') return undefined
      failures = receipt === 'failed' ? failures + 1 : 0
      await sleep(askEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
    return undefined
  }

  /**
   * Determines the outcome after a failed attempt: another party may have settled the payment, or it can no longer
   * settle.
   */
  const findOutcome = async (payment: SignedPayment, message: string): Promise<Settlement> => {
    const outcome = await readChainOutcome(askingFor, payment)
    return outcome.state === 'unused' ? { state: 'unknown', message } : outcome
  }

  const findSettlement = async (payment: SignedPayment): Promise<Settlement> => {
    const { authorization, again } = payment
    if (again) {
      const before = await readChainOutcome(askingFor, payment)
      if (before.state !== 'unused') return before
    }
    let transfer: SubmittedTransfer | 'refused'
    try {
      transfer = await relayer.send(authorization)
    } catch (error) {
      log.warn('failed to send a payment to the chain', { error: describeChainError(error) })
      return findOutcome(payment, 'The transaction could not be sent.')
    }
    if (transfer !== 'refused') {
      const receipt = await waitForReceipt(payment, transfer)
      if (!receipt) relayer.markMissed()
      return receipt ?? findOutcome(payment, 'The transaction has no receipt yet.')
    }
    const outcome = await readChainOutcome(askingFor, payment)
    if (outcome.state !== 'unused') return outcome
    return again ? { state: 'unknown', message: refused.message } : { state: 'failed', ...refused }
  }

  return {
    network: chain.network,
    async verify({ authorization }) {
      return refusals[await chain.checkTransfer(authorization, limits)]
    },
    async settle(payment) {
      try {
        const settlement = await findSettlement(payment)
        if (settlement.state !== 'unknown') relayer.forget(payment.authorization)
        return settlement
      } catch (error) {
        log.warn('payment outcome unknown', { error: describeChainError(error) })
        return { state: 'unknown', message: 'The chain cannot be queried.' }
      }
    },
    async close() {
      closing.abort(new Error('Steward is stopping.'))
    },
  }
}

/** Sends transactions of one account one at a time, because their nonces define an order. */
function createTransferRelay({ chain, relayerKey, limits }: Relayed) {
  const inTurn = createSerialQueue()
  /** Next nonce according to the transactions sent here, which a node may not count yet. */
  let nextNonce = 0
  const open = new Map<string, SubmittedTransfer>()
  const toKey = ({ from, nonce }: PaymentAuthorization) => `${from} ${nonce}`

  return {
    async send(transfer: PaymentAuthorization): Promise<SubmittedTransfer | 'refused'> {
      const prepared = await chain.prepareTransfer(transfer, limits)
      if (prepared.state === 'refused') return 'refused'
      const { gas, fees } = prepared
      return inTurn(async () => {
        const replaces = open.get(toKey(transfer))
        try {
          const options = { transfer, gas, fees, relayerKey, minNonce: nextNonce, replaces }
          const sent = await chain.sendTransfer(options, limits)
          nextNonce = Math.max(nextNonce, sent.nonce + 1)
          open.set(toKey(transfer), sent)
          return sent
        } catch (error) {
          nextNonce = 0 // the node's count applies again
          throw error
        }
      })
    },
    /** Handles a transaction without a receipt. It may be lost, so the next one must not wait for its nonce. */
    markMissed() {
      nextNonce = 0
    },
    forget(transfer: PaymentAuthorization) {
      open.delete(toKey(transfer))
    },
  }
}
type Relayed = { chain: Chain; relayerKey: `0x${string}`; limits: { signal: AbortSignal; withinMs: number } }

const refused: Refusal = { reason: 'invalid_transaction_state', message: 'The USDC contract rejects it.' }
const refusals: Record<TransferCheck, Refusal | undefined> = {
  fine: undefined,
  used: alreadyUsed,
  'too-little': tooLittle,
  refused,
}
