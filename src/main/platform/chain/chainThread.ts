import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'
import { getProgramFile } from '../programFile.ts'
import type { Chain, ChainQuestions, Limits, QuestionName } from './chain.ts'
import { ChainFailure, type FailureFacts } from './chainFailure.ts'
import type { ChainEndpoint, FromChainWorker, Question, ToChainWorker } from './chainMessages.ts'

/** Queries chains on a separate thread, which starts with the first query and ends when idle. */
export type ChainThread = {
  chain(endpoint: ChainEndpoint): Chain
  /** Whether its thread is there now. */
  isRunning(): boolean
  close(): Promise<void>
}

type Options = {
  log: Log
  workerUrl?: URL
  idleMs?: number
  /** A question that was given up ends within this, or its thread is ended. */
  stopMs?: number
}

type PendingQuery = {
  host: string
  withinMs: number
  late: NodeJS.Timeout | undefined
  resolve(answer: unknown): void
  reject(reason: unknown): void
}
type WorkerState = {
  worker: Worker
  isReady: boolean
  queries: Map<number, PendingQuery>
  /** Given up here, and not yet there. */
  stopping: Map<number, NodeJS.Timeout>
  idle: NodeJS.Timeout | undefined
}

const defaultWithinMs = 6_000
const defaultIdleMs = 60_000
const defaultStopMs = 2_000
/** Loading viem takes 0.4 s on an idle machine. */
const startMs = 30_000
/** Far above the size of any response. Exceeding it ends the thread, not the process. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

export function createChainThread(options: Options): ChainThread {
  const { log, idleMs = defaultIdleMs, stopMs = defaultStopMs } = options
  const workerUrl = options.workerUrl ?? pathToFileURL(getProgramFile('platform/chain/chainWorker'))
  let state: WorkerState | undefined
  const ending = new Set<Promise<unknown>>()
  let lastId = 0
  let closing = false

  const post = ({ worker }: WorkerState, message: ToChainWorker): void => worker.postMessage(message)

  const openWorker = (): WorkerState => {
    if (state) return state
    const worker = new Worker(workerUrl, { resourceLimits })
    const created: WorkerState = { worker, isReady: false, queries: new Map(), stopping: new Map(), idle: undefined }
    worker.on('message', (message: FromChainWorker) => receive(created, message))
    worker.on('error', (error) => log.error('the chain client failed', { error: readCode(error) }))
    worker.once('exit', () => clear(created))
    state = created
    return created
  }

  const clear = (ended: WorkerState): void => {
    if (state === ended) state = undefined
    clearTimeout(ended.idle)
    for (const timer of ended.stopping.values()) clearTimeout(timer)
    for (const id of [...ended.queries.keys()]) fail(ended, id, { kind: closing ? 'closed' : 'crashed' })
  }

  const takeQuery = (from: WorkerState, id: number): PendingQuery | undefined => {
    const query = from.queries.get(id)
    clearTimeout(query?.late)
    from.queries.delete(id)
    rest(from)
    return query
  }
  const fail = (from: WorkerState, id: number, facts: FailureFacts): void => {
    const query = takeQuery(from, id)
    query?.reject(new ChainFailure(query.host, facts))
  }

  /** With nothing to do it neither keeps the process, nor stays. */
  const rest = (from: WorkerState): void => {
    if (from.queries.size > 0 || from !== state) return
    from.worker.unref()
    clearTimeout(from.idle)
    from.idle = setTimeout(() => end(from), idleMs).unref()
  }
  const end = (ended: WorkerState): void => {
    if (state === ended) state = undefined
    const termination = ended.worker.terminate().finally(() => ending.delete(termination))
    ending.add(termination)
  }

  const receive = (from: WorkerState, message: FromChainWorker): void => {
    if (message.type === 'ready') {
      from.isReady = true
      for (const [id, query] of from.queries) begin(from, id, query)
      return
    }
    clearTimeout(from.stopping.get(message.id))
    from.stopping.delete(message.id)
    if (message.type === 'failure') fail(from, message.id, message.facts)
    else takeQuery(from, message.id)?.resolve(message.answer)
  }

  const begin = (from: WorkerState, id: number, query: PendingQuery): void => {
    clearTimeout(query.late)
    query.late = setTimeout(() => giveUp(from, id, { kind: 'late', afterMs: query.withinMs }), query.withinMs)
  }
  const giveUp = (from: WorkerState, id: number, facts: FailureFacts): void => {
    fail(from, id, facts)
    stop(from, id)
  }
  const stop = (from: WorkerState, id: number): void => {
    post(from, { type: 'stop', id })
    from.stopping.set(
      id,
      setTimeout(() => {
        log.error('the chain client did not stop, and is ended')
        end(from)
      }, stopMs).unref(),
    )
  }

  const ask = (
    endpoint: ChainEndpoint,
    question: Question,
    { signal, withinMs = defaultWithinMs }: Limits,
  ): Promise<unknown> => {
    const { host } = new URL(endpoint.rpcUrl)
    if (closing) return Promise.reject(new ChainFailure(host, { kind: 'closed' }))
    if (signal?.aborted) return Promise.reject(signal.reason)
    const here = openWorker()
    const id = ++lastId
    const answered = new Promise<unknown>((resolve, reject) => {
      const late = setTimeout(() => giveUp(here, id, { kind: 'late', afterMs: startMs }), startMs)
      const query: PendingQuery = { host, withinMs, late, resolve, reject }
      here.queries.set(id, query)
      clearTimeout(here.idle)
      here.worker.ref()
      if (here.isReady) begin(here, id, query)
      post(here, { type: 'ask', id, place: endpoint, question })
    })
    const onAbort = () => {
      const query = takeQuery(here, id)
      if (!query) return
      query.reject(signal?.reason)
      stop(here, id)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    return answered.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  return {
    chain(endpoint) {
      const { network, rpcUrl } = endpoint
      const { host } = new URL(rpcUrl)
      const asks =
        <K extends QuestionName>(name: K) =>
        (query: ChainQuestions[K]['query'], limits: Limits = {}) => {
          const question = { name, asked: query } as Question // the pair is of one name
          return ask(endpoint, question, limits) as Promise<ChainQuestions[K]['answer']> // the thread has it from that function
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
    isRunning: () => state !== undefined,
    async close() {
      closing = true
      await Promise.all([state?.worker.terminate(), ...ending])
    },
  }
}

/** Reads the code only: the message may repeat the URL of a node, which may contain a key. */
function readCode(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
