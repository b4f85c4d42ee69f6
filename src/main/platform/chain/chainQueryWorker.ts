import { Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'
import type { Limits } from './chain.ts'
import { ChainFailure, type FailureFacts } from './chainFailure.ts'
import type { ChainEndpoint, FromChainWorker, Question, ToChainWorker } from './chainMessages.ts'

/** One thread that queries chains. It ends itself when idle, and when it does not stop a query in time. */
export type ChainQueryWorker = {
  query(endpoint: ChainEndpoint, question: Question, limits: Limits): Promise<unknown>
  /** Resolves when the thread has exited. Its queries fail. */
  terminate(): Promise<unknown>
}

type Options = {
  workerUrl: URL
  idleMs: number
  stopMs: number
  /** Reason for the queries that are open when the thread exits. */
  getExitReason: () => FailureFacts
  /** Called when it accepts no more queries. */
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
/** Loading viem takes 0.4 s on an idle machine. */
const startMs = 30_000
/** Far above the size of any response. Exceeding it ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

export function createChainQueryWorker(options: Options): ChainQueryWorker {
  const { idleMs, stopMs, log } = options
  const worker = new Worker(options.workerUrl, { resourceLimits })
  const queries = new Map<number, PendingQuery>()
  /** Given up here, and not yet there. */
  const stopping = new Map<number, NodeJS.Timeout>()
  let isReady = false
  let hasEnded = false
  let idle: NodeJS.Timeout | undefined
  let lastId = 0

  const post = (message: ToChainWorker): void => worker.postMessage(message)

  const clear = (): void => {
    hasEnded = true
    options.onExit()
    clearTimeout(idle)
    for (const timer of stopping.values()) clearTimeout(timer)
    for (const id of [...queries.keys()]) fail(id, options.getExitReason())
  }

  const takeQuery = (id: number): PendingQuery | undefined => {
    const query = queries.get(id)
    clearTimeout(query?.late)
    queries.delete(id)
    rest()
    return query
  }
  const fail = (id: number, facts: FailureFacts): void => {
    const query = takeQuery(id)
    query?.reject(new ChainFailure(query.host, facts))
  }

  /** With nothing to do it neither keeps the process, nor stays. */
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
      for (const [id, query] of queries) begin(id, query)
      return
    }
    clearTimeout(stopping.get(message.id))
    stopping.delete(message.id)
    if (message.type === 'failure') fail(message.id, message.facts)
    else takeQuery(message.id)?.resolve(message.answer)
  }

  const begin = (id: number, query: PendingQuery): void => {
    clearTimeout(query.late)
    query.late = setTimeout(() => giveUp(id, query.withinMs), query.withinMs)
  }
  const giveUp = (id: number, afterMs: number): void => {
    fail(id, { kind: 'late', afterMs })
    stop(id)
  }
  const stop = (id: number): void => {
    post({ type: 'stop', id })
    const timer = setTimeout(() => {
      log.error('the chain client did not stop, and is ended')
      end()
    }, stopMs)
    stopping.set(id, timer.unref())
  }

  worker.on('message', receive)
  worker.on('error', (error) => log.error('the chain client failed', { error: readCode(error) }))
  worker.once('exit', clear)

  return {
    query(endpoint, question, { signal, withinMs = defaultWithinMs }) {
      const { host } = new URL(endpoint.rpcUrl)
      const id = ++lastId
      const answered = new Promise<unknown>((resolve, reject) => {
        const late = setTimeout(() => giveUp(id, startMs), startMs)
        const query: PendingQuery = { host, withinMs, late, resolve, reject }
        queries.set(id, query)
        clearTimeout(idle)
        worker.ref()
        if (isReady) begin(id, query)
        post({ type: 'ask', id, place: endpoint, question })
      })
      const onAbort = () => {
        const query = takeQuery(id)
        if (!query) return
        query.reject(signal?.reason)
        stop(id)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      return answered.finally(() => signal?.removeEventListener('abort', onAbort))
    },
    terminate: () => worker.terminate(),
  }
}

/** Reads the code only: the message may repeat the URL of a node, which may contain a key. */
function readCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
