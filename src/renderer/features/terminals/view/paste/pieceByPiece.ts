import { splitInput } from '../../stream/inputQueue.ts'

const pasteBegins = '\x1b[200~'
const pasteEnds = '\x1b[201~'

export type Pieces = {
  readonly done: boolean
  /** Units of UTF-16 that arrived. */
  readonly arrived: number
  /** Sends the next chunk after the previous one has arrived. */
  next(): void
  /** Cancels the rest. */
  stop(): void
}

type PiecesOptions = {
  text: string
  bracketed: boolean
  /** False when it is not taken. */
  type: (text: string) => boolean
}

/**
 * Sends a long text chunk by chunk, so that other input passes in between and it can be canceled. A program that
 * received the start of a bracketed paste always receives its end.
 */
export function typeInPieces({ text, bracketed, type }: PiecesOptions): Pieces {
  const [first = '', ...rest] = splitInput(text)
  let waiting = [bracketed ? pasteBegins + first : first, ...rest]
  let open = bracketed
  let arrived = 0
  let underWay = 0
  let done = false

  function next(): void {
    arrived += underWay
    const [piece, ...later] = waiting
    if (piece === undefined) {
      finish()
      return
    }
    waiting = later
    underWay = piece.length
    const last = waiting.length === 0 && open
    if (last) open = false
    if (!type(last ? piece + pasteEnds : piece)) finish()
  }

  function finish(): void {
    waiting = []
    done = true
  }

  next()
  if (rest.length === 0) finish() // nothing to wait for, nothing to call off
  return {
    get done() {
      return done
    },
    get arrived() {
      return arrived
    },
    next: () => void (done || next()),
    stop() {
      if (done) return
      finish()
      if (open) type(pasteEnds)
      open = false
    },
  }
}
