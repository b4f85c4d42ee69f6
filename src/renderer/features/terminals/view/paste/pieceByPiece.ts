import { splitInput } from '../../stream/inputQueue.ts'

const pasteBegins = '\x1b[200~'
const pasteEnds = '\x1b[201~'

export type Pieces = {
  readonly done: boolean
  /** Number of UTF-16 code units that have arrived. */
  readonly arrived: number
  /** Sends the next chunk after the previous one has arrived. */
  next(): void
  stop(): void
}

type PiecesOptions = {
  text: string
  bracketed: boolean
  /** @returns false if the input was rejected */
  type: (text: string) => boolean
}

/**
 * Sends a long text in chunks, so that other input can be sent in between and the paste can be canceled. A program that
 * received the start of a bracketed paste always receives its end.
 */
export function typeInChunks({ text, bracketed, type }: PiecesOptions): Pieces {
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
  if (rest.length === 0) finish() // a single chunk cannot be canceled
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
