import type { MessagePort } from 'node:worker_threads'
import { type Screen, screen } from './screen.ts'
import type { FromScreens, ToScreens } from './screenMessages.ts'

type Work = Exclude<ToScreens, { type: 'open' | 'close' }>
type Held = { screen: Screen; queue: Work[]; parsed: number; replaying: boolean; rang: boolean }

/** A program may call its terminal anything, at any length; everyone who is connected is told. */
const titleLength = 512

/** Holds screens and does their work in turns of about a millisecond, so that none waits for a loud one. */
export function serveScreens(port: MessagePort): void {
  const screens = new Map<number, Held>()
  let taking = false

  const tell = (message: FromScreens, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

  const open = (id: number, cols: number, rows: number): void => {
    const held: Held = {
      screen: screen({
        cols,
        rows,
        onAnswer: (data) => !held.replaying && tell({ type: 'answer', screen: id, data }),
        onTitle: (title) => !held.replaying && tell({ type: 'title', screen: id, title: title.slice(0, titleLength) }),
        onBell: () => {
          held.rang = !held.replaying
        },
      }),
      queue: [],
      parsed: 0,
      replaying: false,
      rang: false,
    }
    screens.set(id, held)
  }

  const parse = (id: number, held: Held, { bytes, replay }: Extract<Work, { type: 'output' }>): void => {
    held.replaying = replay
    held.parsed = held.screen.parse(bytes, held.parsed)
    if (held.rang) tell({ type: 'bell', screen: id })
    held.rang = false
    if (held.parsed < bytes.length) return
    held.parsed = 0
    held.queue.shift()
    tell({ type: 'parsed', screen: id, bytes: bytes.length })
  }

  const reply = (held: Held, { ask, question }: Extract<Work, { type: 'ask' }>): void => {
    try {
      const answer = held.screen.reply(question)
      tell({ type: 'reply', ask, reply: answer }, [answer.bytes.buffer])
    } catch (failure) {
      tell({ type: 'failed', ask, reason: failure instanceof Error ? failure.message : String(failure) })
    }
  }

  const work = (id: number, held: Held): void => {
    const next = held.queue[0]
    if (!next) return
    if (next.type === 'output') {
      parse(id, held, next)
      return
    }
    held.queue.shift()
    if (next.type === 'resize') held.screen.resize(next.cols, next.rows)
    else if (next.type === 'colours') held.screen.draws(next.colours)
    else reply(held, next)
  }

  const takeTurns = (): void => {
    let busy = false
    for (const [id, held] of screens) {
      work(id, held)
      busy ||= held.queue.length > 0
    }
    taking = busy
    if (busy) setImmediate(takeTurns)
  }

  port.on('message', (message: ToScreens) => {
    if (message.type === 'open') return open(message.screen, message.cols, message.rows)
    const held = screens.get(message.screen)
    if (message.type === 'close') {
      screens.delete(message.screen)
      held?.screen.close()
      return
    }
    held?.queue.push(message)
    if (!taking) setImmediate(takeTurns)
    taking = true
  })
}
