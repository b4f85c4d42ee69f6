import { maxStatusLineBytes } from '../inside/execProtocol.ts'
import messages from '../scripts/messages.json' with { type: 'json' }

/** Callbacks for messages of the script that enters a sandbox. See `enter.pl`. */
export type EnterCallbacks = {
  onOutput(bytes: Buffer): void
  onErrors(bytes: Buffer): void
  /**
   * Called with a status line, without its line feed, cut if it is too long.
   * @returns true if all further bytes are unframed output
   */
  onStatus(line: string): boolean
}

export const enterKinds = messages.enter

const headBytes = 5
const { output, errors } = enterKinds

/** Creates an incremental message parser. Output is passed on as it arrives, in chunks of any size. */
export function createEnterMessageReader({ onOutput, onErrors, onStatus }: EnterCallbacks): (bytes: Buffer) => void {
  let head = Buffer.alloc(0)
  let line = ''
  let kind = 0
  let remaining = 0
  let raw = false

  const takeHead = (bytes: Buffer): Buffer => {
    const all = head.length === 0 ? bytes : Buffer.concat([head, bytes])
    if (all.length < headBytes) {
      head = Buffer.from(all)
      return all.subarray(all.length)
    }
    head = head.subarray(head.length)
    kind = all.readUInt8(0)
    remaining = all.readUInt32BE(1)
    return all.subarray(headBytes)
  }
  const takePiece = (piece: Buffer): void => {
    remaining -= piece.length
    if (kind === output) onOutput(piece)
    else if (kind === errors) onErrors(piece)
    else {
      line += piece.toString('latin1', 0, maxStatusLineBytes + 1 - line.length)
      if (remaining > 0) return
      raw = onStatus(line.replace(/\n$/, ''))
      line = ''
    }
  }

  return (bytes) => {
    let rest = bytes
    while (rest.length > 0) {
      if (raw) return onOutput(rest)
      if (remaining === 0) rest = takeHead(rest)
      else {
        const piece = rest.subarray(0, remaining)
        rest = rest.subarray(piece.length)
        takePiece(piece)
      }
    }
  }
}
