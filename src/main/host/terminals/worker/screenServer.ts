import type { MessagePort } from 'node:worker_threads'
import { createScreen, type Screen } from '../emulator/screen.ts'
import { createCurrentWork } from './currentWork.ts'
import { createScreenBudget } from './screenBudget.ts'
import type { FromScreens, ToScreens } from './screenMessages.ts'

type Work = Exclude<ToScreens, { type: 'open' | 'close' }> | { type: 'catch-up' }
type ScreenState = {
  screen: Screen
  queue: Work[]
  parsed: number
  replaying: boolean
  rang: boolean
  /**
   * Replies sent together at the end of a turn, because a program may query or change the title thousands of times in
   * one turn.
   */
  answers: string[]
  title: string | undefined
  notice: string | undefined
  /** Timer that parses postponed output after a short pause in the output. */
  lull: NodeJS.Timeout | undefined
}

/** Limits titles, because programs choose them and all clients receive them. */
const titleLength = 512

const pauseBeforeCatchUpMs = 100
const bell = 0x07

/** Runs screens in turns of about one millisecond, so that a busy screen does not block the others. */
export function serveScreens(port: MessagePort, work = createCurrentWork()): void {
  const screens = new Map<number, ScreenState>()
  const budget = createScreenBudget()
  let taking = false

  const tell: Tell = (message, transfer = []) => port.postMessage(message, transfer)

  const drop = (id: number): void => {
    const state = screens.get(id)
    screens.delete(id)
    clearTimeout(state?.lull)
    state?.queue.splice(0)
    if (state) budget.closed(state.screen)
    state?.screen.close()
  }

  const takeTurns = (): void => {
    let busy = false
    for (const [id, state] of screens) {
      work.begin(id, state.queue[0]?.type === 'query' ? 'asked' : 'drawing')
      try {
        doNext(id, state)
      } catch (error) {
        // The other screens of this worker are unaffected.
        drop(id)
        tell({ type: 'broken', screen: id, reason: toReason(error) })
      }
      work.end()
      busy ||= state.queue.length > 0
    }
    taking = busy
    if (busy) setImmediate(takeTurns)
  }

  const add = (state: ScreenState, task: Work): void => {
    state.queue.push(task)
    if (!taking) setImmediate(takeTurns)
    taking = true
  }

  const doNext = createTurn({ tell, budget, add })

  port.on('message', (message: ToScreens) => {
    if (message.type === 'open') return void screens.set(message.screen, openScreen(message))
    const state = screens.get(message.screen)
    if (message.type === 'close') drop(message.screen)
    else if (state) add(state, message)
  })
}

function openScreen({ cols, rows, marksKey }: Extract<ToScreens, { type: 'open' }>): ScreenState {
  const state: ScreenState = {
    screen: createScreen({
      cols,
      rows,
      marksKey,
      onAnswer: (data) => void (state.replaying || state.answers.push(data)),
      onTitle: (title) => {
        if (!state.replaying) state.title = title.slice(0, titleLength)
      },
      onBell: () => {
        state.rang = !state.replaying
      },
      onNotice: (text) => {
        if (!state.replaying) state.notice = text
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
  return state
}

type Tell = (message: FromScreens, transfer?: ArrayBuffer[]) => void

type TurnOptions = {
  tell: Tell
  budget: ReturnType<typeof createScreenBudget>
  add: (state: ScreenState, task: Work) => void
}

/** @returns a function that performs the next task of a screen, fully or partially */
function createTurn({ tell, budget, add }: TurnOptions): (id: number, state: ScreenState) => void {
  const parse = (id: number, state: ScreenState, { bytes, replay }: Extract<Work, { type: 'output' }>): void => {
    state.replaying = replay
    state.parsed = state.screen.parse(bytes, state.parsed)
    budget.recordParsed(state.screen)
    if (state.rang) tell({ type: 'bell', screen: id })
    state.rang = false
    postPending(id, state, tell)
    if (state.parsed < bytes.length) return
    state.parsed = 0
    state.queue.shift()
    tell({ type: 'parsed', screen: id, bytes: bytes.length })
  }

  const postpone = (id: number, state: ScreenState, { bytes, replay }: Extract<Work, { type: 'output' }>): boolean => {
    if (replay || state.parsed > 0 || !state.screen.postpone(bytes)) return false
    state.queue.shift()
    if (bytes.includes(bell)) tell({ type: 'bell', screen: id })
    tell({ type: 'parsed', screen: id, bytes: bytes.length })
    state.lull ??= setTimeout(() => add(state, { type: 'catch-up' }), pauseBeforeCatchUpMs)
    state.lull.refresh()
    return true
  }

  const catchUp = (state: ScreenState): boolean => {
    const more = state.screen.catchUp()
    if (more) budget.recordParsed(state.screen)
    state.rang = false // cleared because the bell is reported immediately
    return more
  }

  return (id, state) => {
    const next = state.queue[0]
    if (!next || (next.type === 'output' && postpone(id, state, next)) || catchUp(state)) return
    if (next.type === 'output') {
      parse(id, state, next)
      return
    }
    state.queue.shift()
    if (next.type === 'catch-up') return
    if (next.type === 'resize') state.screen.resize(next.cols, next.rows)
    else if (next.type === 'marks') state.screen.takesMarks(next.marks)
    else if (next.type === 'colors') state.screen.draws(next.colors)
    else reply(state, next, tell)
  }
}

function postPending(id: number, state: ScreenState, tell: Tell): void {
  if (state.answers.length > 0) tell({ type: 'answer', screen: id, data: state.answers.splice(0).join('') })
  if (state.title !== undefined) tell({ type: 'title', screen: id, title: state.title })
  state.title = undefined
  if (state.notice !== undefined) tell({ type: 'notice', screen: id, text: state.notice })
  state.notice = undefined
}

function reply(state: ScreenState, { id, query }: Extract<Work, { type: 'query' }>, tell: Tell): void {
  try {
    const answer = state.screen.reply(query)
    tell({ type: 'reply', id, reply: answer }, [answer.bytes.buffer])
  } catch (error) {
    tell({ type: 'failed', id, reason: toReason(error) })
  }
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
