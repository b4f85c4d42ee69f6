import { createObservable, type Observable } from '../observable.ts'
import { type Pieces, typeInChunks } from './pieceByPiece.ts'
import { sanitizePaste, splitLines, toOneLine, toTypedText } from './sanitizePaste.ts'

/** Confirmation for a paste of several lines to a program that would run each line immediately. */
export type PasteQuestion = { lines: readonly string[] }
export type PasteAnswer = 'all' | 'one-line' | 'nothing'
export type PasteProgress = { arrived: number; whole: number }

export type TerminalPaste = {
  readonly question: Observable<PasteQuestion | undefined>
  readonly progress: Observable<PasteProgress | undefined>
  paste(text: string): void
  answer(answer: PasteAnswer): void
  /** Types a command of one or more lines, followed by Enter. */
  run(command: string): void
  stop(): void
  /** Queues the user's typing during a paste, so that it is not inserted in the middle. */
  typed(text: string): void
  /** Called when all sent input has arrived. */
  arrived(): void
}

type PasteOptions = {
  /** Whether the program supports bracketed paste, so that pasted lines are not run immediately. */
  isBracketed: () => boolean
  warns: () => boolean
  type: (text: string) => boolean
}

const interrupt = '\x03'

export function createTerminalPaste({ isBracketed, warns, type }: PasteOptions): TerminalPaste {
  const question = createObservable<PasteQuestion | undefined>(undefined)
  const progress = createObservable<PasteProgress | undefined>(undefined)
  let request = ''
  let pieces: Pieces | undefined
  let whole = 0
  let waiting: { text: string; isPaste: boolean }[] = []

  function send(text: string, isPaste: boolean): void {
    waiting.push({ text, isPaste })
    goOn()
  }

  function goOn(): void {
    if (pieces?.done) pieces = undefined
    while (!pieces) {
      const next = waiting.shift()
      if (!next) break
      if (next.isPaste) begin(next.text)
      else type(next.text)
    }
    progress.set(pieces && { arrived: pieces.arrived, whole })
  }

  function begin(text: string): void {
    whole = text.length
    const begun = typeInChunks({ text: toTypedText(text), bracketed: isBracketed(), type })
    if (!begun.done) pieces = begun
  }

  function stop(): void {
    waiting = []
    pieces?.stop()
    goOn()
  }

  return {
    question,
    progress,
    paste(text) {
      const clean = sanitizePaste(text)
      const lines = splitLines(clean)
      if (clean === '') return
      if (lines.length === 1 || isBracketed() || !warns()) {
        send(clean, true)
        return
      }
      request = clean
      question.set({ lines })
    },
    answer(answer) {
      question.set(undefined)
      if (answer !== 'nothing') send(answer === 'all' ? request : toOneLine(request), true)
      request = ''
    },
    run(command) {
      send(sanitizePaste(command), true)
      send('\r', false)
    },
    stop,
    typed(text) {
      if (text === interrupt) stop()
      send(text, false)
    },
    arrived() {
      pieces?.next()
      goOn()
    },
  }
}
