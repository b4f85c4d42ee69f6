import { type MessagePort, parentPort } from 'node:worker_threads'
import type { FromChainWorker, ToChainWorker } from './chainMessages.ts'
import { toChainErrorDetails } from './failureFacts.ts'
import { openNode } from './openNode.ts'
import { findAuthorizationOutcome } from './questions/authorizationOutcome.ts'
import { readBalances } from './questions/balances.ts'
import { blockTimeMs } from './questions/blockTime.ts'
import { permitAllowance, permitOutcome } from './questions/permits.ts'
import { checkTransfer, findTransferReceipt, prepareTransfer, sendTransfer } from './questions/transfers.ts'

const queries = {
  ...{
    balances: readBalances,
    authorizationOutcome: findAuthorizationOutcome,
    permitOutcome,
    permitAllowance,
    blockTimeMs,
  },
  ...{ checkTransfer, prepareTransfer, sendTransfer, transferReceipt: findTransferReceipt },
}

if (parentPort) serveChain(parentPort)

/** Runs queries, each with a separate abort signal. */
function serveChain(port: MessagePort): void {
  const underWay = new Map<number, AbortController>()
  const send = (message: FromChainWorker): void => port.postMessage(message)

  const reply = async ({ id, endpoint, query }: Extract<ToChainWorker, { type: 'query' }>): Promise<void> => {
    const stopping = new AbortController()
    underWay.set(id, stopping)
    try {
      // name and input belong together
      const work = queries[query.name] as (node: unknown, input: unknown) => Promise<unknown>
      send({ type: 'answer', id, answer: await work(openNode(endpoint, stopping.signal), query.request) })
    } catch (error) {
      send({ type: 'failure', id, facts: toChainErrorDetails(error) })
    } finally {
      underWay.delete(id)
    }
  }

  port.on('message', (message: ToChainWorker) => {
    if (message.type === 'stop') underWay.get(message.id)?.abort()
    else void reply(message)
  })
  send({ type: 'ready' })
}
