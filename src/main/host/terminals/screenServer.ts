import type { MessagePort } from 'node:worker_threads'
import { presentWork } from './presentWork.ts'
import { type Screen, screen } from './screen.ts'
import { createScreenBudget } from './screenBudget.ts'
import type { FromScreens, ToScreens } from './screenMessages.ts'

type Work = Exclude<ToScreens, { type: 'open' | 'close' }> | { type: 'catch-up' }
type Held = {
  screen: Screen
  queue: Work[]
  parsed: number
  replaying: boolean
  rang: boolean
  /** Sent together at the end of a turn, since a program may ask or rename thousands of times in one. */
  answers: string[]
  title: string | undefined
  notice: string | undefined
  /** Fires after a short pause in the output, to parse what was postponed. */
  lull: NodeJS.Timeout | undefined
}

/** Limits titles, which programs choose and every client receives. */
const titleLength = 512

const lullMs = 100
const bell = 0x07

/** Holds screens and works on them in turns of about a millisecond, so that none waits for a loud one. */
export function serveScreens(port: MessagePort, work = presentWork()): void {
  const screens = new Map<number, Held>()
  const budget = createScreenBudget()
  let taking = false

  const tell = (message: FromScreens, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

  const open = ({ screen: id, cols, rows, marksKey }: Extract<ToScreens, { type: 'open' }>): void => {
    const held: Held = {
      screen: screen({
        cols,
        rows,
        marksKey,
        onAnswer: (data) => void (held.replaying || held.answers.push(data)),
        onTitle: (title) => {
          if (!held.replaying) held.title = title.slice(0, titleLength)
        },
        onBell: () => {
          held.rang = !held.replaying
        },
        onNotice: (text) => {
          if (!held.replaying) held.notice = text
        },
      }),
      queue: [],
      parsed: 0,
      replaying: false,
      rang: false,
      answers: [],
      title: undefined,
      notice: undefined,
      lull: undefined,
    }
    screens.set(id, held)
  }

  const parse = (id: number, held: Held, { bytes, replay }: Extract<Work, { type: 'output' }>): void => {
    held.replaying = replay
    held.parsed = held.screen.parse(bytes, held.parsed)
    budget.parsed(held.screen)
    if (held.rang) tell({ type: 'bell', screen: id })
    held.rang = false
    tellMore(id, held)
    if (held.parsed < bytes.length) return
    held.parsed = 0
    held.queue.shift()
    tell({ type: 'parsed', screen: id, bytes: bytes.length })
  }

  const tellMore = (id: number, held: Held): void => {
    if (held.answers.length > 0) tell({ type: 'answer', screen: id, data: held.answers.splice(0).join('') })
    if (held.title !== undefined) tell({ type: 'title', screen: id, title: held.title })
    held.title = undefined
    if (held.notice !== undefined) tell({ type: 'notice', screen: id, text: held.notice })
    held.notice = undefined
  }

  const reply = (held: Held, { ask, question }: Extract<Work, { type: 'ask' }>): void => {
    try {
      const answer = held.screen.reply(question)
      tell({ type: 'reply', ask, reply: answer }, [answer.bytes.buffer])
    } catch (failure) {
      tell({ type: 'failed', ask, reason: reasonOf(failure) })
    }
  }

  const postponed = (id: number, held: Held, { bytes, replay }: Extract<Work, { type: 'output' }>): boolean => {
    if (replay || held.parsed > 0 || !held.screen.postpone(bytes)) return false
    held.queue.shift()
    if (bytes.includes(bell)) tell({ type: 'bell', screen: id })
    tell({ type: 'parsed', screen: id, bytes: bytes.length })
    held.lull ??= setTimeout(() => add(held, { type: 'catch-up' }), lullMs)
    held.lull.refresh()
    return true
  }

  const caughtUp = (held: Held): boolean => {
    const more = held.screen.catchUp()
    if (more) budget.parsed(held.screen)
    held.rang = false // told when it came
    return more
  }

  const doNext = (id: number, held: Held): void => {
    const next = held.queue[0]
    if (!next || (next.type === 'output' && postponed(id, held, next)) || caughtUp(held)) return
    if (next.type === 'output') {
      parse(id, held, next)
      return
    }
    held.queue.shift()
    if (next.type === 'catch-up') return
    if (next.type === 'resize') held.screen.resize(next.cols, next.rows)
    else if (next.type === 'marks') held.screen.takesMarks(next.marks)
    else if (next.type === 'colours') held.screen.draws(next.colours)
    else reply(held, next)
  }

  const drop = (id: number): void => {
    const held = screens.get(id)
    screens.delete(id)
    clearTimeout(held?.lull)
    held?.queue.splice(0)
    if (held) budget.closed(held.screen)
    held?.screen.close()
  }

  const takeTurns = (): void => {
    let busy = false
    for (const [id, held] of screens) {
      work.begin(id, held.queue[0]?.type === 'ask' ? 'asked' : 'drawing')
      try {
        doNext(id, held)
      } catch (failure) {
        // The other screens of this worker are unaffected.
        drop(id)
        tell({ type: 'broken', screen: id, reason: reasonOf(failure) })
      }
      work.end()
      busy ||= held.queue.length > 0
    }
    taking = busy
    if (busy) setImmediate(takeTurns)
  }

  const add = (held: Held, task: Work): void => {
    held.queue.push(task)
    if (!taking) setImmediate(takeTurns)
    taking = true
  }

  port.on('message', (message: ToScreens) => {
    if (message.type === 'open') return open(message)
    const held = screens.get(message.screen)
    if (message.type === 'close') drop(message.screen)
    else if (held) add(held, message)
  })
}

function reasonOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure)
}
