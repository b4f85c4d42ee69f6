import { setTimeout as sleep } from 'node:timers/promises'
import type { Chain, SubmittedTransfer, TransferCheck } from '#platform/chain/chain.ts'
import type { Log } from '#platform/log.ts'
import { createSerialQueue } from '#platform/serialQueue.ts'
import { describeChainError, readChainOutcome } from './chainOutcome.ts'
import { alreadyUsed, type Facilitator, type Settlement, type SignedPayment, tooLittle } from './facilitator.ts'
import type { PaymentAuthorization, Refusal } from './paymentAuthorization.ts'

/** From sending to a receipt. Later it is unknown, until the chain is asked again. */
const defaultSettleWithinMs = 30_000
const askEveryMs = 250
/** Consecutive errors of a node after which payers are told to retry rather than wait. */
const maxFailures = 4

/** Settles on a chain itself, with a key of ours that pays for the gas and can do nothing else. */
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

  /** @returns undefined where no receipt came in time, or one of a transaction that failed */
  const waitForReceipt = async (
    { authorization }: SignedPayment,
    { hash }: SubmittedTransfer,
  ): Promise<Settlement | undefined> => {
    const untilMs = now() + settleWithinMs
    let failures = 0
    while (now() < untilMs && failures < maxFailures && !closing.signal.aborted) {
      const asked = chain.transferReceipt({ hash, transfer: authorization }, limits)
      const receipt = await asked.catch(() => 'failed' as const)
      if (receipt === 'paid') return { state: 'settled', transaction: hash }
      if (receipt === 'reverted' || receipt === 'other') return undefined
      failures = receipt === 'failed' ? failures + 1 : 0
      await sleep(askEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
    return undefined
  }

  /** Determines the outcome of a failed settlement: someone else may have settled it, or it can no longer settle. */
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
      log.warn('a payment was not sent to the chain', { error: describeChainError(error) })
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
        log.warn('what became of a payment is not known', { error: describeChainError(error) })
        return { state: 'unknown', message: 'The chain cannot be asked.' }
      }
    },
    async close() {
      closing.abort(new Error('Steward is stopping.'))
    },
  }
}

/** Transactions of one account have an order: each is made and sent before the next. */
function createTransferRelay({ chain, relayerKey, limits }: Relayed) {
  const inTurn = createSerialQueue()
  /** Next nonce by transactions sent here, which a node may not count yet. */
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
          nextNonce = 0 // the node tells what it has
          throw error
        }
      })
    },
    /** A transaction has no receipt. It may have been lost, and the next one must not wait behind it. */
    markMissed() {
      nextNonce = 0
    },
    forget(transfer: PaymentAuthorization) {
      open.delete(toKey(transfer))
    },
  }
}
type Relayed = { chain: Chain; relayerKey: `0x${string}`; limits: { signal: AbortSignal; withinMs: number } }

const refused: Refusal = { reason: 'invalid_transaction_state', message: 'The contract of USDC refuses it.' }
const refusals: Record<TransferCheck, Refusal | undefined> = {
  fine: undefined,
  used: alreadyUsed,
  'too-little': tooLittle,
  refused,
}
