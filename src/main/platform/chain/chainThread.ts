import { pathToFileURL } from 'node:url'
import type { Log } from '../logging/log.ts'
import { getProgramFile } from '../program/programFile.ts'
import type { Chain, ChainQueries, Limits, QueryName } from './chain.ts'
import { ChainError } from './chainError.ts'
import type { ChainEndpoint, Query } from './chainMessages.ts'
import { type ChainQueryWorker, createChainQueryWorker } from './chainQueryWorker.ts'

/** Queries chains on a worker thread, which starts with the first query and exits when idle. */
export type ChainThread = {
  chain(endpoint: ChainEndpoint): Chain
  isRunning(): boolean
  close(): Promise<void>
}

type Options = {
  log: Log
  workerUrl?: URL
  idleMs?: number
  /** Maximum time for an aborted query to stop. The thread is terminated after that. */
  stopMs?: number
}

const defaultIdleMs = 60_000
const defaultStopMs = 2_000

export function createChainThread(options: Options): ChainThread {
  const { log, idleMs = defaultIdleMs, stopMs = defaultStopMs } = options
  const workerUrl = options.workerUrl ?? pathToFileURL(getProgramFile('platform/chain/chainWorker'))
  let current: ChainQueryWorker | undefined
  /** Workers whose thread has not exited, including those that accept no more queries. */
  const workers = new Set<ChainQueryWorker>()
  let closing = false

  const openWorker = (): ChainQueryWorker => {
    if (current) return current
    const onEnd = (): void => {
      if (current === worker) current = undefined
    }
    const worker = createChainQueryWorker({
      workerUrl,
      idleMs,
      stopMs,
      getExitReason: () => ({ kind: closing ? 'closed' : 'crashed' }),
      onEnd,
      onExit() {
        onEnd()
        workers.delete(worker)
      },
      log,
    })
    workers.add(worker)
    current = worker
    return worker
  }

  const send = (endpoint: ChainEndpoint, query: Query, limits: Limits): Promise<unknown> => {
    const { host } = new URL(endpoint.rpcUrl)
    if (closing) return Promise.reject(new ChainError(host, { kind: 'closed' }))
    if (limits.signal?.aborted) return Promise.reject(limits.signal.reason)
    return openWorker().query(endpoint, query, limits)
  }

  return {
    chain(endpoint) {
      const { network, rpcUrl } = endpoint
      const { host } = new URL(rpcUrl)
      const asks =
        <K extends QueryName>(name: K) =>
        (query: ChainQueries[K]['query'], limits: Limits = {}) => {
          // The name determines the query, and the thread returns the result of the function with this name.
          return send(endpoint, { name, request: query } as Query, limits) as Promise<ChainQueries[K]['answer']>
        }
      return {
        ...{ network, host },
        balances: asks('balances'),
        authorizationOutcome: asks('authorizationOutcome'),
        permitOutcome: asks('permitOutcome'),
        permitAllowance: asks('permitAllowance'),
        blockTimeMs: asks('blockTimeMs'),
        checkTransfer: asks('checkTransfer'),
        prepareTransfer: asks('prepareTransfer'),
        sendTransfer: asks('sendTransfer'),
        transferReceipt: asks('transferReceipt'),
      }
    },
    isRunning: () => current !== undefined,
    async close() {
      closing = true
      await Promise.all([...workers].map((worker) => worker.terminate()))
    },
  }
}
