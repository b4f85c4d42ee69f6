import { Worker } from 'node:worker_threads'
import type { Log } from '#platform/log.ts'
import { AppError } from '#shared/appError.ts'
import type { TerminalColours } from '#shared/contract/terminalColours.ts'
import type { CarriedMark } from '#shared/terminalMarks.ts'
import { type PresentWork, presentWork } from './presentWork.ts'
import type { FromScreens, ScreenQuestion, ScreenReply, ToScreens } from './screenMessages.ts'
import { type Stuck, stuckWork } from './stuckWork.ts'
import { threadMs } from './threadClock.ts'

export type ScreenSize = { cols: number; rows: number }

export type ScreenHandlers = {
  onParsed(bytes: number): void
  onAnswer(data: string): void
  onTitle(title: string): void
  onBell(): void
  onNotice(text: string): void
  /** Its worker ended. The screen is gone and accepts nothing more. */
  onLost(why: LossReason): void
}

/**
 * `crashed`: of the worker, whoever brought it about. `neighbour`: another screen kept the worker busy for too long.
 * `drawing`, `asked`: it was this one, with its output or with an answer, or the emulator failed in it.
 */
export type LossReason = 'crashed' | 'neighbour' | 'drawing' | 'asked'

/** The screen went away before it answered. Asking again redraws it. */
export class ScreenLost extends AppError {
  constructor() {
    super('internal/unexpected', 'The screen was lost and is being drawn again; try again.')
  }
}

/** A screen in a worker. Requests are handled in order. */
export type RemoteScreen = {
  /** Transfers the bytes to the worker; the caller loses them. */
  output(bytes: Uint8Array<ArrayBuffer>, replay: boolean): void
  resize(size: ScreenSize): void
  takesMarks(marks: readonly CarriedMark[]): void
  draws(colours: TerminalColours): void
  ask(question: ScreenQuestion): Promise<ScreenReply>
  close(): void
}

export type ScreenPool = {
  /** Number of running worker threads. */
  readonly workers: number
  open(size: ScreenSize & { marksKey?: string | undefined }, handlers: ScreenHandlers): RemoteScreen
  close(): Promise<void>
}

type Room = {
  worker: Worker
  work: PresentWork
  stuck: Stuck | undefined
  screens: Map<number, ScreenHandlers>
  asks: Map<number, Ask>
  /** Ends an idle worker after a delay unless a screen is opened on it. */
  idle: NodeJS.Timeout | undefined
}
type Ask = {
  screen: number
  late: NodeJS.Timeout
  resolve: (reply: ScreenReply) => void
  reject: (failure: AppError) => void
}

const askMs = 30_000
/** Idle time after which a worker without screens ends: V8 does not release the memory of an idle thread. */
const defaultIdleMs = 5_000
/** No piece of work takes this long, unless the output is hostile. */
const defaultStuckMs = 5_000

type ScreenPoolOptions = { workerUrl: URL; workers: number; stuckMs?: number; idleMs?: number; log: Log }

/** Spreads screens over worker threads; a worker that dies, or is stuck in one piece of work, is replaced. */
export function screenPool(options: ScreenPoolOptions): ScreenPool {
  const { stuckMs = defaultStuckMs, idleMs = defaultIdleMs } = options
  const rooms: Room[] = []
  let lastScreen = 0
  let lastAsk = 0
  let closing = false

  const addRoom = (): Room => {
    const work = presentWork()
    const worker = new Worker(options.workerUrl, { workerData: { work: work.memory } })
    const room: Room = { worker, work, stuck: undefined, screens: new Map(), asks: new Map(), idle: undefined }
    rooms.push(room)
    watch(room)
    room.worker.on('message', (message: FromScreens) => {
      if (message.type === 'broken') breakUp(room, message)
      else receive(room, message)
    })
    room.worker.on('error', (failure) => options.log.error('a screen worker failed', { failure }))
    room.worker.once('exit', () => clear(room))
    return room
  }

  const watch = (room: Room): void => {
    const lookMs = stuckMs / 10
    const look = stuckWork(room.work, { stuckMs, lookMs })
    const looking = setInterval(() => {
      room.stuck = look(threadMs(room.work.thread) ?? performance.now())
      if (!room.stuck) return
      clearInterval(looking)
      options.log.error('a screen worker was stuck and is replaced', room.stuck)
      void room.worker.terminate()
    }, lookMs).unref()
    room.worker.once('exit', () => clearInterval(looking))
  }

  const breakUp = (room: Room, { screen, reason }: Extract<FromScreens, { type: 'broken' }>): void => {
    options.log.error('a screen failed and is begun anew', { reason })
    const handlers = room.screens.get(screen)
    room.screens.delete(screen)
    handlers?.onLost('drawing')
    for (const [id, ask] of room.asks) if (ask.screen === screen) settle(room, id)?.reject(new ScreenLost())
    endIfIdle(room)
  }

  const lossOf = ({ stuck }: Room, screen: number): LossReason => {
    if (!stuck) return 'crashed'
    return stuck.screen === screen ? stuck.kind : 'neighbour'
  }

  const forget = (room: Room): void => {
    const index = rooms.indexOf(room)
    if (index >= 0) rooms.splice(index, 1)
  }

  const endIfIdle = (room: Room): void => {
    if (room.screens.size > 0) return
    clearTimeout(room.idle)
    room.idle = setTimeout(() => {
      forget(room)
      void room.worker.terminate()
    }, idleMs).unref()
  }

  const clear = (room: Room): void => {
    clearTimeout(room.idle)
    forget(room)
    if (!closing) for (const [screen, handlers] of room.screens) handlers.onLost(lossOf(room, screen))
    for (const id of [...room.asks.keys()]) settle(room, id)?.reject(new ScreenLost())
  }

  const roomiest = (): Room => {
    if (rooms.length < options.workers) return addRoom()
    return rooms.reduce((best, room) => (room.screens.size < best.screens.size ? room : best))
  }

  return {
    get workers() {
      return rooms.length
    },
    open({ cols, rows, marksKey }, handlers) {
      const room = roomiest()
      const screen = ++lastScreen
      const post = (message: ToScreens, transfer: ArrayBuffer[] = []): void => {
        if (room.screens.has(screen)) room.worker.postMessage(message, transfer)
      }
      room.screens.set(screen, handlers)
      clearTimeout(room.idle)
      post({ type: 'open', screen, cols, rows, marksKey })
      return {
        output: (bytes, replay) => post({ type: 'output', screen, bytes, replay }, [bytes.buffer]),
        resize: (newSize) => post({ type: 'resize', screen, ...newSize }),
        takesMarks: (marks) => post({ type: 'marks', screen, marks }),
        draws: (colours) => post({ type: 'colours', screen, colours }),
        ask: (question) =>
          new Promise((resolve, reject) => {
            if (!rooms.includes(room) || !room.screens.has(screen)) return reject(new ScreenLost())
            const ask = ++lastAsk
            const late = setTimeout(() => settle(room, ask)?.reject(tooLate()), askMs)
            room.asks.set(ask, { screen, late, resolve, reject })
            post({ type: 'ask', screen, ask, question })
          }),
        close() {
          post({ type: 'close', screen })
          room.screens.delete(screen)
          for (const [id, ask] of room.asks) if (ask.screen === screen) settle(room, id)?.reject(closed())
          endIfIdle(room)
        },
      }
    },
    async close() {
      closing = true
      await Promise.all(rooms.map(({ worker }) => worker.terminate()))
    },
  }
}

function receive(room: Room, message: Exclude<FromScreens, { type: 'broken' }>): void {
  switch (message.type) {
    case 'parsed':
      room.screens.get(message.screen)?.onParsed(message.bytes)
      return
    case 'answer':
      room.screens.get(message.screen)?.onAnswer(message.data)
      return
    case 'title':
      room.screens.get(message.screen)?.onTitle(message.title)
      return
    case 'bell':
      room.screens.get(message.screen)?.onBell()
      return
    case 'notice':
      room.screens.get(message.screen)?.onNotice(message.text)
      return
    case 'reply':
      settle(room, message.ask)?.resolve(message.reply)
      return
    case 'failed':
      settle(room, message.ask)?.reject(new AppError('internal/unexpected', `The screen failed: ${message.reason}`))
      return
  }
}

function settle(room: Room, id: number): Ask | undefined {
  const ask = room.asks.get(id)
  clearTimeout(ask?.late)
  room.asks.delete(id)
  return ask
}

function tooLate(): AppError {
  return new AppError('internal/unexpected', 'The screen did not answer in time. Try again.')
}

function closed(): AppError {
  return new AppError('internal/unexpected', 'The screen was closed before it answered.')
}
