import { Worker } from 'node:worker_threads'
import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { TerminalColors } from '#shared/contract/terminalColors.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import type { ScreenQuery, ScreenReply } from '../emulator/screenQuery.ts'
import { type CurrentWork, createCurrentWork } from './currentWork.ts'
import type { FromScreens, ToScreens } from './screenMessages.ts'
import { createStuckWorkDetector, type Stuck } from './stuckWork.ts'
import { readThreadMs } from './threadClock.ts'

export type ScreenSize = { cols: number; rows: number }

export type ScreenHandlers = {
  onParsed(bytes: number): void
  onAnswer(data: string): void
  onTitle(title: string): void
  onBell(): void
  onNotice(text: string): void
  /** Called when the screen is lost. It accepts no further output. */
  onLost(why: LossReason): void
}

/**
 * `crashed`: the worker crashed for any reason. `neighbour`: another screen blocked the worker for too long. `drawing`,
 * `asked`: this screen blocked the worker with its output or a query, or its emulator failed.
 */
export type LossReason = 'crashed' | 'neighbour' | 'drawing' | 'asked'

/** The screen was lost before it replied. A retry redraws it. */
export class ScreenLostError extends AppError {
  constructor() {
    super('internal/unexpected', 'The screen was lost and is being redrawn. Try again.')
  }
}

/** Screen in a worker. Requests are handled in order. */
export type RemoteScreen = {
  /** Transfers the bytes to the worker. The caller cannot use them afterwards. */
  output(bytes: Uint8Array<ArrayBuffer>, replay: boolean): void
  resize(size: ScreenSize): void
  takesMarks(marks: readonly CarriedMark[]): void
  draws(colors: TerminalColors): void
  ask(query: ScreenQuery): Promise<ScreenReply>
  close(): void
}

export type ScreenPool = {
  /** Number of running worker threads. */
  readonly workers: number
  open(size: ScreenSize & { marksKey?: string | undefined }, handlers: ScreenHandlers): RemoteScreen
  close(): Promise<void>
}

type WorkerSlot = {
  worker: Worker
  work: CurrentWork
  stuck: Stuck | undefined
  screens: Map<number, ScreenHandlers>
  queries: Map<number, PendingQuery>
  /** Timer that ends an idle worker unless a screen is opened on it. */
  idle: NodeJS.Timeout | undefined
}
type PendingQuery = {
  screen: number
  late: NodeJS.Timeout
  resolve: (reply: ScreenReply) => void
  reject: (error: AppError) => void
}

const requestTimeoutMs = 30_000
/**
 * Idle time after which a worker without screens ends, in milliseconds, because V8 does not release the memory of an
 * idle thread.
 */
const defaultIdleMs = 5_000
/** Maximum duration of one task, in milliseconds. Only hostile output takes longer. */
const defaultStuckMs = 5_000

type ScreenPoolOptions = { workerUrl: URL; workers: number; stuckMs?: number; idleMs?: number; log: Log }

/** Distributes screens over worker threads. Replaces workers that crash or are stuck in one task. */
export function createScreenPool(options: ScreenPoolOptions): ScreenPool {
  const { stuckMs = defaultStuckMs, idleMs = defaultIdleMs } = options
  const slots: WorkerSlot[] = []
  let lastScreen = 0
  let lastQuery = 0
  let closing = false

  const addSlot = (): WorkerSlot => {
    const work = createCurrentWork()
    const worker = new Worker(options.workerUrl, { workerData: { work: work.memory } })
    const slot: WorkerSlot = { worker, work, stuck: undefined, screens: new Map(), queries: new Map(), idle: undefined }
    slots.push(slot)
    endWhenStuck(slot, stuckMs, options.log)
    slot.worker.on('message', (message: FromScreens) => {
      if (message.type === 'broken') breakUp(slot, message)
      else receive(slot, message)
    })
    slot.worker.on('error', (error) => options.log.error('screen worker failed', { error }))
    slot.worker.once('exit', () => clear(slot))
    return slot
  }

  const breakUp = (slot: WorkerSlot, { screen, reason }: Extract<FromScreens, { type: 'broken' }>): void => {
    options.log.error('screen failed, restarting it', { reason })
    const handlers = slot.screens.get(screen)
    slot.screens.delete(screen)
    handlers?.onLost('drawing')
    for (const [id, pending] of slot.queries)
      if (pending.screen === screen) settle(slot, id)?.reject(new ScreenLostError())
    endIfIdle(slot)
  }

  const forget = (slot: WorkerSlot): void => {
    const index = slots.indexOf(slot)
    if (index >= 0) slots.splice(index, 1)
  }

  const endIfIdle = (slot: WorkerSlot): void => {
    if (slot.screens.size > 0) return
    clearTimeout(slot.idle)
    slot.idle = setTimeout(() => {
      forget(slot)
      void slot.worker.terminate()
    }, idleMs).unref()
  }

  const clear = (slot: WorkerSlot): void => {
    clearTimeout(slot.idle)
    forget(slot)
    if (!closing) for (const [screen, handlers] of slot.screens) handlers.onLost(findLossReason(slot, screen))
    for (const id of [...slot.queries.keys()]) settle(slot, id)?.reject(new ScreenLostError())
  }

  const roomiest = (): WorkerSlot => {
    if (slots.length < options.workers) return addSlot()
    return slots.reduce((best, slot) => (slot.screens.size < best.screens.size ? slot : best))
  }

  return {
    get workers() {
      return slots.length
    },
    open({ cols, rows, marksKey }, handlers) {
      const slot = roomiest()
      const screen = ++lastScreen
      const post = (message: ToScreens, transfer: ArrayBuffer[] = []): void => {
        if (slot.screens.has(screen)) slot.worker.postMessage(message, transfer)
      }
      slot.screens.set(screen, handlers)
      clearTimeout(slot.idle)
      post({ type: 'open', screen, cols, rows, marksKey })
      return {
        output: (bytes, replay) => post({ type: 'output', screen, bytes, replay }, [bytes.buffer]),
        resize: (newSize) => post({ type: 'resize', screen, ...newSize }),
        takesMarks: (marks) => post({ type: 'marks', screen, marks }),
        draws: (colors) => post({ type: 'colors', screen, colors }),
        ask: (query) =>
          new Promise((resolve, reject) => {
            if (!slots.includes(slot) || !slot.screens.has(screen)) return reject(new ScreenLostError())
            const id = ++lastQuery
            const late = setTimeout(() => settle(slot, id)?.reject(createTimeoutError()), requestTimeoutMs)
            slot.queries.set(id, { screen, late, resolve, reject })
            post({ type: 'query', screen, id, query })
          }),
        close() {
          post({ type: 'close', screen })
          slot.screens.delete(screen)
          for (const [id, pending] of slot.queries)
            if (pending.screen === screen) settle(slot, id)?.reject(createClosedError())
          endIfIdle(slot)
        },
      }
    },
    async close() {
      closing = true
      await Promise.all(slots.map(({ worker }) => worker.terminate()))
    },
  }
}

function endWhenStuck(slot: WorkerSlot, stuckMs: number, log: Log): void {
  const lookMs = stuckMs / 10
  const look = createStuckWorkDetector(slot.work, { stuckMs, lookMs })
  const looking = setInterval(() => {
    slot.stuck = look(readThreadMs(slot.work.thread) ?? performance.now())
    if (!slot.stuck) return
    clearInterval(looking)
    log.error('screen worker hung, replacing it', slot.stuck)
    void slot.worker.terminate()
  }, lookMs).unref()
  slot.worker.once('exit', () => clearInterval(looking))
}

function findLossReason({ stuck }: WorkerSlot, screen: number): LossReason {
  if (!stuck) return 'crashed'
  return stuck.screen === screen ? stuck.kind : 'neighbour'
}

function receive(slot: WorkerSlot, message: Exclude<FromScreens, { type: 'broken' }>): void {
  switch (message.type) {
    case 'parsed':
      slot.screens.get(message.screen)?.onParsed(message.bytes)
      return
    case 'answer':
      slot.screens.get(message.screen)?.onAnswer(message.data)
      return
    case 'title':
      slot.screens.get(message.screen)?.onTitle(message.title)
      return
    case 'bell':
      slot.screens.get(message.screen)?.onBell()
      return
    case 'notice':
      slot.screens.get(message.screen)?.onNotice(message.text)
      return
    case 'reply':
      settle(slot, message.id)?.resolve(message.reply)
      return
    case 'failed':
      settle(slot, message.id)?.reject(new AppError('internal/unexpected', `The screen failed: ${message.reason}`))
      return
  }
}

function settle(slot: WorkerSlot, id: number): PendingQuery | undefined {
  const pending = slot.queries.get(id)
  clearTimeout(pending?.late)
  slot.queries.delete(id)
  return pending
}

function createTimeoutError(): AppError {
  return new AppError('internal/unexpected', 'The screen did not respond in time. Try again.')
}

function createClosedError(): AppError {
  return new AppError('internal/unexpected', 'The screen was closed before it responded.')
}
