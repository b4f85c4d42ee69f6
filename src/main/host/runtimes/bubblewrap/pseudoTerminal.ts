import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ReadStream } from 'node:tty'

/** Pseudo-terminal of the sandbox's own /dev/pts, so that programs find it under the name printed by `tty`. */
export type PseudoTerminal = {
  master: number
  /** The program's side is /dev/pts/NUMBER inside the sandbox. */
  number: number
  /** Creates a paused read stream. Bytes are passed only to `onBytes`, and the buffer is valid until it returns. */
  stream(onBytes: (bytes: Buffer) => void): ReadStream
  /** Yields the immediately readable bytes, bypassing the stream. */
  rest(): Generator<Buffer>
  resize(cols: number, rows: number): void
}

/** Part of node-pty's native module that works on terminals created elsewhere. */
type NativeTerminals = { resize(master: number, cols: number, rows: number): void }

// Not named `require`, because the bundler declares that name in the same file.
const load = createRequire(import.meta.url)
const chunkBytes = 16 * 1024
/** The kernel returns 4 KiB per read. The default 64 KiB stream buffers would burden the garbage collector. */
const readBytes = 16 * 1024
const multiplexer = 5 * 256 + 2

/** @param terminals path of the sandbox's pseudo-terminal multiplexer, pinned at its start */
export function openPseudoTerminal(terminals: string): PseudoTerminal {
  const master = openSync(terminals, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
  try {
    if (fstatSync(master).rdev !== multiplexer) throw new Error('The multiplexer of the sandbox is not a terminal.')
    const number = readIndex(master)
    return {
      master,
      number,
      stream: (onBytes) => readStream(master, onBytes),
      rest: () => readRest(master),
      resize: (cols, rows) => loadNative().resize(master, cols, rows),
    }
  } catch (error) {
    closeSync(master)
    throw error
  }
}

function readStream(master: number, onBytes: (bytes: Buffer) => void): ReadStream {
  const buffer = Buffer.allocUnsafeSlow(readBytes)
  const callback = (count: number): boolean => {
    onBytes(buffer.subarray(0, count))
    return !stream.isPaused() // otherwise a stream paused right after a resume would continue to read
  }
  const stream = new ReadStream(master, { onread: { buffer, callback } })
  return stream.pause()
}

function readIndex(master: number): number {
  const index = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'latin1'))?.[1]
  if (index === undefined) throw new Error('This kernel does not report the number of a terminal.')
  return Number(index)
}

function* readRest(master: number): Generator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let count: number
    try {
      count = readSync(master, buffer)
    } catch {
      return // EIO or EAGAIN: no more output
    }
    if (count === 0) return
    yield buffer.subarray(0, count)
  }
}

function loadNative(): NativeTerminals {
  const { requireBinary } = load('@lydell/node-pty/requireBinary.js') as {
    requireBinary(file: string): NativeTerminals // native module, see unixTerminal.js of node-pty
  }
  return requireBinary('pty.node')
}
