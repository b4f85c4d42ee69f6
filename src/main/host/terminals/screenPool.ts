import { Worker } from 'node:worker_threads'
import { AppError } from '../../../shared/appError.ts'
import type { TerminalColours } from '../../../shared/contract/terminalColours.ts'
import type { Log } from '../../platform/log.ts'
import type { FromScreens, ScreenQuestion, ScreenReply, ToScreens } from './screenMessages.ts'

export type ScreenSize = { cols: number; rows: number }

export type ScreenHandlers = {
  onParsed(bytes: number): void
  onAnswer(data: string): void
  onTitle(title: string): void
  onBell(): void
  /** Its worker died: the screen is gone and takes nothing any more. */
  onLost(): void
}

/** A screen that lives in a worker. What is asked of it happens in order. */
export type RemoteScreen = {
  /** The bytes move to the worker: the caller has them no longer. */
  output(bytes: Uint8Array<ArrayBuffer>, replay: boolean): void
  resize(size: ScreenSize): void
  draws(colours: TerminalColours): void
  ask(question: ScreenQuestion): Promise<ScreenReply>
  close(): void
}

export type ScreenPool = { open(size: ScreenSize, handlers: ScreenHandlers): RemoteScreen; close(): Promise<void> }

type Room = {
  worker: Worker
  screens: Map<number, ScreenHandlers>
  asks: Map<number, Ask>
}
type Ask = {
  screen: number
  late: NodeJS.Timeout
  resolve: (reply: ScreenReply) => void
  reject: (failure: AppError) => void
}

const askMs = 30_000

/** Spreads screens over worker threads; a worker that dies is replaced. */
export function screenPool(options: { workerUrl: URL; workers: number; log: Log }): ScreenPool {
  const rooms: Room[] = []
  let lastScreen = 0
  let lastAsk = 0
  let closing = false

  const addRoom = (): Room => {
    const room: Room = { worker: new Worker(options.workerUrl), screens: new Map(), asks: new Map() }
    rooms.push(room)
    room.worker.on('message', (message: FromScreens) => receive(room, message))
    room.worker.on('error', (failure) => options.log.error('a screen worker failed', { failure }))
    room.worker.once('exit', () => clear(room))
    return room
  }

  const clear = (room: Room): void => {
    rooms.splice(rooms.indexOf(room), 1)
    for (const id of [...room.asks.keys()]) settle(room, id)?.reject(lost())
    if (closing) return
    for (const handlers of room.screens.values()) handlers.onLost()
  }

  const roomiest = (): Room => {
    if (rooms.length < options.workers) return addRoom()
    return rooms.reduce((best, room) => (room.screens.size < best.screens.size ? room : best))
  }

  return {
    open(size, handlers) {
      const room = roomiest()
      const screen = ++lastScreen
      const post = (message: ToScreens, transfer: ArrayBuffer[] = []): void => {
        if (room.screens.has(screen)) room.worker.postMessage(message, transfer)
      }
      room.screens.set(screen, handlers)
      post({ type: 'open', screen, ...size })
      return {
        output: (bytes, replay) => post({ type: 'output', screen, bytes, replay }, [bytes.buffer]),
        resize: (newSize) => post({ type: 'resize', screen, ...newSize }),
        draws: (colours) => post({ type: 'colours', screen, colours }),
        ask: (question) =>
          new Promise((resolve, reject) => {
            if (!rooms.includes(room) || !room.screens.has(screen)) return reject(lost())
            const ask = ++lastAsk
            const late = setTimeout(() => settle(room, ask)?.reject(lost()), askMs)
            room.asks.set(ask, { screen, late, resolve, reject })
            post({ type: 'ask', screen, ask, question })
          }),
        close() {
          post({ type: 'close', screen })
          room.screens.delete(screen)
          for (const [id, ask] of room.asks) if (ask.screen === screen) settle(room, id)?.reject(lost())
        },
      }
    },
    async close() {
      closing = true
      await Promise.all(rooms.map(({ worker }) => worker.terminate()))
    },
  }
}

function receive(room: Room, message: FromScreens): void {
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

function lost(): AppError {
  return new AppError('internal/unexpected', 'The screen was lost and is being drawn again; try again.')
}
