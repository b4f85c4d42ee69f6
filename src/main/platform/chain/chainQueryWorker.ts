import { Worker } from 'node:worker_threads'
import type { Log } from '../logging/log.ts'
import type { Limits } from './chain.ts'
import { ChainError, type ChainErrorDetails } from './chainError.ts'
import type { ChainEndpoint, FromChainWorker, Query, ToChainWorker } from './chainMessages.ts'

/** Worker thread that queries chains. Exits when idle, or when it does not abort a query in time. */
export type ChainQueryWorker = {
  query(endpoint: ChainEndpoint, query: Query, limits: Limits): Promise<unknown>
  /** Resolves when the thread has exited. Open queries reject. */
  terminate(): Promise<unknown>
}

type Options = {
  workerUrl: URL
  idleMs: number
  stopMs: number
  /** Reason with which open queries reject when the thread exits. */
  getExitReason: () => ChainErrorDetails
  /** Called when the worker stops accepting queries. */
  onEnd: () => void
  onExit: () => void
  log: Log
}

type PendingQuery = {
  host: string
  withinMs: number
  late: NodeJS.Timeout | undefined
  resolve(answer: unknown): void
  reject(reason: unknown): void
}

const defaultWithinMs = 6_000
/** Loading viem takes 0.4 s on an idle computer. */
const startMs = 30_000
/** Far above the size of any response. Exceeding the limit ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

export function createChainQueryWorker(options: Options): ChainQueryWorker {
  const { idleMs, stopMs, log } = options
  const worker = new Worker(options.workerUrl, { resourceLimits })
  const queries = new Map<number, PendingQuery>()
  const stops = createStopTimers(stopMs, () => {
    log.error('chain client did not stop, terminating it')
    end()
  })
  let isReady = false
  let hasEnded = false
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const post = (message: ToChainWorker): void => worker.postMessage(message)

  const clear = (): void => {
    hasEnded = true
    options.onExit()
    clearTimeout(idle)
    stops.clear()
    for (const id of [...queries.keys()]) fail(id, options.getExitReason())
  }

  const takeQuery = (id: number): PendingQuery | undefined => {
    const query = queries.get(id)
    clearTimeout(query?.late)
    queries.delete(id)
    rest()
    return query
  }
  const fail = (id: number, facts: ChainErrorDetails): void => {
    const query = takeQuery(id)
    query?.reject(new ChainError(query.host, facts))
  }

  /** An idle thread does not block the exit of the process, and exits after a timeout. */
  const rest = (): void => {
    if (queries.size > 0 || hasEnded) return
    worker.unref()
    clearTimeout(idle)
    idle = setTimeout(end, idleMs).unref()
  }
  const end = (): void => {
    hasEnded = true
    options.onEnd()
    void worker.terminate()
  }

  const receive = (message: FromChainWorker): void => {
    if (message.type === 'ready') {
      isReady = true
      for (const [id, query] of queries) startDeadline(id, query, query.withinMs)
      return
    }
    stops.remove(message.id)
    if (message.type === 'failure') fail(message.id, message.facts)
    else takeQuery(message.id)?.resolve(message.answer)
  }

  const startDeadline = (id: number, query: PendingQuery, afterMs: number): void => {
    clearTimeout(query.late)
    query.late = setTimeout(() => {
      fail(id, { kind: 'late', afterMs })
      stop(id)
    }, afterMs)
  }
  const stop = (id: number): void => {
    post({ type: 'stop', id })
    stops.add(id)
  }

  worker.on('message', receive)
  worker.on('error', (error) => log.error('chain client failed', { error: readCode(error) }))
  worker.once('exit', clear)

  return {
    query(endpoint, query, { signal, withinMs = defaultWithinMs }) {
      const { host } = new URL(endpoint.rpcUrl)
      const id = ++lastId
      const answered = new Promise<unknown>((resolve, reject) => {
        const pending: PendingQuery = { host, withinMs, late: undefined, resolve, reject }
        queries.set(id, pending)
        clearTimeout(idle)
        worker.ref()
        startDeadline(id, pending, isReady ? withinMs : startMs)
        post({ type: 'query', id, endpoint, query })
      })
      const onAbort = () => {
        const pending = takeQuery(id)
        if (!pending) return
        pending.reject(signal?.reason)
        stop(id)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      return answered.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    terminate: () => worker.terminate(),
  }
}

/** Creates the timers of queries that were aborted here but have not stopped in the thread. */
function createStopTimers(stopMs: number, onLate: () => void) {
  const timers = new Map<number, NodeJS.Timeout>()

  return {
    add(id: number): void {
      timers.set(id, setTimeout(onLate, stopMs).unref())
    },
    remove(id: number): void {
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    clear(): void {
      for (const timer of timers.values()) clearTimeout(timer)
    },
  }
}

/** Reads only the error code, because the message may contain the URL of a node with its API key. */
function readCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
