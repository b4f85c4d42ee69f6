import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Log } from '../log.ts'
import { programFile } from '../programFile.ts'
import type { Chain, ChainQuestions, Limits, QuestionName } from './chain.ts'
import { ChainFailure, type FailureFacts } from './chainFailure.ts'
import type { ChainPlace, FromChainWorker, Question, ToChainWorker } from './chainMessages.ts'

/** Asks chains on a thread of its own, which is started for the first question and ended when nobody asks any more. */
export type ChainThread = {
  chain(place: ChainPlace): Chain
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

type Asked = {
  host: string
  withinMs: number
  late: NodeJS.Timeout | undefined
  resolve(answer: unknown): void
  reject(reason: unknown): void
}
type Room = {
  worker: Worker
  isReady: boolean
  asked: Map<number, Asked>
  /** Given up here, and not yet there. */
  stopping: Map<number, NodeJS.Timeout>
  idle: NodeJS.Timeout | undefined
}

const usualWithinMs = 6_000
const usualIdleMs = 60_000
const usualStopMs = 2_000
/** Loading viem takes 0.4 s on an idle machine. */
const startMs = 30_000
/** What a node answers stays far below; a thread that needs more is ended alone. */
const resourceLimits = { maxOldGenerationSizeMb: 256 }

export function chainThread(options: Options): ChainThread {
  const { log, idleMs = usualIdleMs, stopMs = usualStopMs } = options
  const workerUrl = options.workerUrl ?? pathToFileURL(programFile('platform/chain/chainWorker'))
  let room: Room | undefined
  const ending = new Set<Promise<unknown>>()
  let lastId = 0
  let closing = false

  const post = ({ worker }: Room, message: ToChainWorker): void => worker.postMessage(message)

  const opened = (): Room => {
    if (room) return room
    const worker = new Worker(workerUrl, { resourceLimits })
    const made: Room = { worker, isReady: false, asked: new Map(), stopping: new Map(), idle: undefined }
    worker.on('message', (message: FromChainWorker) => receive(made, message))
    worker.on('error', (failure) => log.error('the chain client failed', { failure: codeOf(failure) }))
    worker.once('exit', () => clear(made))
    room = made
    return made
  }

  const clear = (ended: Room): void => {
    if (room === ended) room = undefined
    clearTimeout(ended.idle)
    for (const timer of ended.stopping.values()) clearTimeout(timer)
    for (const id of [...ended.asked.keys()]) fail(ended, id, { kind: closing ? 'closed' : 'crashed' })
  }

  const taken = (from: Room, id: number): Asked | undefined => {
    const asked = from.asked.get(id)
    clearTimeout(asked?.late)
    from.asked.delete(id)
    rest(from)
    return asked
  }
  const fail = (from: Room, id: number, facts: FailureFacts): void => {
    const asked = taken(from, id)
    asked?.reject(new ChainFailure(asked.host, facts))
  }

  /** With nothing to do it neither keeps the process, nor stays. */
  const rest = (from: Room): void => {
    if (from.asked.size > 0 || from !== room) return
    from.worker.unref()
    clearTimeout(from.idle)
    from.idle = setTimeout(() => end(from), idleMs).unref()
  }
  const end = (ended: Room): void => {
    if (room === ended) room = undefined
    const gone = ended.worker.terminate().finally(() => ending.delete(gone))
    ending.add(gone)
  }

  const receive = (from: Room, message: FromChainWorker): void => {
    if (message.type === 'ready') {
      from.isReady = true
      for (const [id, asked] of from.asked) begin(from, id, asked)
      return
    }
    clearTimeout(from.stopping.get(message.id))
    from.stopping.delete(message.id)
    if (message.type === 'failure') fail(from, message.id, message.facts)
    else taken(from, message.id)?.resolve(message.answer)
  }

  const begin = (from: Room, id: number, asked: Asked): void => {
    clearTimeout(asked.late)
    asked.late = setTimeout(() => giveUp(from, id, { kind: 'late', afterMs: asked.withinMs }), asked.withinMs)
  }
  const giveUp = (from: Room, id: number, facts: FailureFacts): void => {
    fail(from, id, facts)
    stop(from, id)
  }
  const stop = (from: Room, id: number): void => {
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
    place: ChainPlace,
    question: Question,
    { signal, withinMs = usualWithinMs }: Limits,
  ): Promise<unknown> => {
    const { host } = new URL(place.rpcUrl)
    if (closing) return Promise.reject(new ChainFailure(host, { kind: 'closed' }))
    if (signal?.aborted) return Promise.reject(signal.reason)
    const here = opened()
    const id = ++lastId
    const answered = new Promise<unknown>((resolve, reject) => {
      const late = setTimeout(() => giveUp(here, id, { kind: 'late', afterMs: startMs }), startMs)
      const asked: Asked = { host, withinMs, late, resolve, reject }
      here.asked.set(id, asked)
      clearTimeout(here.idle)
      here.worker.ref()
      if (here.isReady) begin(here, id, asked)
      post(here, { type: 'ask', id, place, question })
    })
    const onAbort = () => {
      const asked = taken(here, id)
      if (!asked) return
      asked.reject(signal?.reason)
      stop(here, id)
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    return answered.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  return {
    chain(place) {
      const { network, rpcUrl } = place
      const { host } = new URL(rpcUrl)
      const asks =
        <K extends QuestionName>(name: K) =>
        (asked: ChainQuestions[K]['asked'], limits: Limits = {}) => {
          const question = { name, asked } as Question // the pair is of one name
          return ask(place, question, limits) as Promise<ChainQuestions[K]['answer']> // the thread has it from that function
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
    isRunning: () => room !== undefined,
    async close() {
      closing = true
      await Promise.all([room?.worker.terminate(), ...ending])
    },
  }
}

/** Its words may repeat the address of a node, which may hold a key. */
function codeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return 'unknown'
  return 'code' in failure ? String(failure.code) : failure.name
}
