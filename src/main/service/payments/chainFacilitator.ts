import { setTimeout as sleep } from 'node:timers/promises'
import type { EvmNetwork } from '../../../shared/contract/networks.ts'
import type { Log } from '../../platform/log.ts'
import { serialQueue } from '../../platform/serialQueue.ts'
import { type ChainClient, chainClient, chainFailure } from './chainClient.ts'
import { chainOutcome, hasPaid } from './chainOutcome.ts'
import { alreadyUsed, type Facilitator, type Settlement, type SignedPayment, tooLittle } from './facilitator.ts'
import type { PaymentAuthorization, Refusal } from './paymentAuthorization.ts'

/** From sending to a receipt. Later it is unknown, until the chain is asked again. */
const settleWithinMs = 30_000
const askEveryMs = 250

/** Settles on a chain itself, with a key of ours that pays for the gas and can do nothing else. */
export function chainFacilitator(options: {
  network: EvmNetwork
  rpcUrl: string
  relayerKey: `0x${string}`
  log: Log
  now: () => number
  settleWithinMs?: number
  blocksAtOnce?: bigint
}): Facilitator {
  const { network, log, now } = options
  const closing = new AbortController()
  let opened: Promise<ChainClient> | undefined
  const chain = (): Promise<ChainClient> => {
    opened ??= chainClient(options)
    return opened
  }
  /** Transactions of one account have an order: each is made and sent before the next. */
  const inTurn = serialQueue()
  let nextNonce: number | undefined

  const usdc = ({ abi }: ChainClient) => ({ address: network.usdc.address, abi }) as const
  const callOf = ({ signature, ...it }: PaymentAuthorization) =>
    [
      it.from,
      it.to,
      BigInt(it.value),
      BigInt(it.validAfter),
      BigInt(it.validBefore),
      it.nonce,
      Number(`0x${signature.slice(130)}`),
      signature.slice(0, 66) as `0x${string}`, // of 65 bytes in hexadecimal, as checked before
      `0x${signature.slice(66, 130)}`,
    ] as const

  const send = async (opened: ChainClient, authorization: PaymentAuthorization): Promise<`0x${string}`> => {
    const { client, viem, accounts, abi } = opened
    const relayer = accounts.privateKeyToAccount(options.relayerKey)
    const call = { functionName: 'transferWithAuthorization', args: callOf(authorization) } as const
    const gas = await client.estimateContractGas({ ...usdc(opened), ...call, account: relayer.address })
    const fees = await client.estimateFeesPerGas()
    const pending = await client.getTransactionCount({ address: relayer.address, blockTag: 'pending' })
    const nonce = Math.max(pending, nextNonce ?? 0)
    const serialized = await relayer.signTransaction({
      ...fees,
      ...{ chainId: network.chainId, type: 'eip1559', to: network.usdc.address, nonce, gas: (gas * 12n) / 10n },
      data: viem.encodeFunctionData({ abi, ...call }),
    })
    try {
      await client.sendRawTransaction({ serializedTransaction: serialized })
      nextNonce = nonce + 1
    } catch (failure) {
      nextNonce = undefined // the chain tells what it has
      throw failure
    }
    return viem.keccak256(serialized)
  }

  const receiptOf = async (
    opened: ChainClient,
    payment: SignedPayment,
    hash: `0x${string}`,
  ): Promise<Settlement | undefined> => {
    const untilMs = now() + (options.settleWithinMs ?? settleWithinMs)
    while (now() < untilMs && !closing.signal.aborted) {
      const receipt = await opened.client.getTransactionReceipt({ hash }).catch(() => undefined)
      if (receipt?.status === 'reverted') return undefined
      if (receipt && (await hasPaid(opened, network, { ...payment, hash })))
        return { state: 'settled', transaction: hash }
      await sleep(askEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
    nextNonce = undefined // it may have been lost, and the next one must not wait behind it
    return undefined
  }

  /** Of one that came to nothing here: somebody else may have settled it, or nobody can any more. */
  const found = async (opened: ChainClient, payment: SignedPayment, message: string): Promise<Settlement> => {
    const outcome = await chainOutcome(opened, options, payment)
    return outcome.state === 'unused' ? { state: 'unknown', message } : outcome
  }

  const settled = async (payment: SignedPayment): Promise<Settlement> => {
    const opened = await chain()
    if (payment.again) {
      const before = await chainOutcome(opened, options, payment)
      if (before.state !== 'unused') return before
    }
    let hash: `0x${string}`
    try {
      hash = await inTurn(() => send(opened, payment.authorization))
    } catch (failure) {
      log.warn('a payment was not sent to the chain', { failure: chainFailure(failure) })
      if (!payment.again && isRefusedByContract(failure, opened)) {
        const outcome = await chainOutcome(opened, options, payment)
        return outcome.state === 'unused'
          ? { state: 'failed', reason: 'invalid_transaction_state', message: 'The contract of USDC refuses it.' }
          : outcome
      }
      return found(opened, payment, 'The transaction could not be sent.')
    }
    return (await receiptOf(opened, payment, hash)) ?? found(opened, payment, 'The transaction has no receipt yet.')
  }

  const verified = async (authorization: PaymentAuthorization): Promise<Refusal | undefined> => {
    const opened = await chain()
    const { client } = opened
    const { from, nonce, value } = authorization
    const [balance, isUsed] = await Promise.all([
      client.readContract({ ...usdc(opened), functionName: 'balanceOf', args: [from] }),
      client.readContract({ ...usdc(opened), functionName: 'authorizationState', args: [from, nonce] }),
    ])
    if (isUsed) return alreadyUsed
    if (balance < BigInt(value)) return tooLittle
    try {
      await client.simulateContract({
        ...usdc(opened),
        functionName: 'transferWithAuthorization',
        args: callOf(authorization),
      })
    } catch (failure) {
      if (!isRefusedByContract(failure, opened)) throw failure
      return { reason: 'invalid_transaction_state', message: 'The contract of USDC refuses it.' }
    }
    return undefined
  }

  return {
    network,
    verify: ({ authorization }) =>
      verified(authorization).catch((failure: unknown) => {
        throw new Error(`The chain cannot be asked: ${chainFailure(failure)}`) // a cause would tell the key in its address
      }),
    async settle(payment) {
      try {
        return await settled(payment)
      } catch (failure) {
        log.warn('what became of a payment is not known', { failure: chainFailure(failure) })
        return { state: 'unknown', message: 'The chain cannot be asked.' }
      }
    },
    async close() {
      closing.abort()
    },
  }
}

/** Nothing was sent: the contract would have refused it. */
function isRefusedByContract(failure: unknown, { viem }: ChainClient): boolean {
  return (
    failure instanceof viem.BaseError &&
    failure.walk(
      (it) => it instanceof viem.ContractFunctionRevertedError || it instanceof viem.ExecutionRevertedError,
    ) !== null
  )
}
