import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'
import { ReadStream } from 'node:tty'

/** A pseudo-terminal of the sandbox's own /dev/pts: what runs on it finds it under the name that `tty` prints. */
export type PseudoTerminal = {
  master: number
  /** The program's end is /dev/pts/NUMBER inside. */
  number: number
  /** Begins paused; what it reads goes to `onBytes` alone, which has the bytes only until it returns. */
  stream(onBytes: (bytes: Buffer) => void): ReadStream
  /** Yields what can be read immediately, bypassing the stream. */
  rest(): Generator<Buffer>
  resize(cols: number, rows: number): void
}

/** The part of node-pty's native module that works on a terminal it has not made itself. */
type NativeTerminals = { resize(master: number, cols: number, rows: number): void }

// Not named `require`: the build puts one of that name into the same file.
const load = createRequire(import.meta.url)
const chunkBytes = 16 * 1024
/** The kernel gives 4 KiB at once; the stream's own buffers of 64 KiB for each would keep the collector busy. */
const readBytes = 16 * 1024
const multiplexer = 5 * 256 + 2

/** @param terminals the multiplexer of the machine's terminals, pinned at its start */
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
    return !stream.isPaused() // a stream that is paused right after it was resumed would go on reading
  }
  const stream = new ReadStream(master, { onread: { buffer, callback } })
  return stream.pause()
}

function readIndex(master: number): number {
  const index = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${master}`, 'latin1'))?.[1]
  if (index === undefined) throw new Error('This kernel does not tell the number of a terminal.')
  return Number(index)
}

function* readRest(master: number): Generator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes)
    let count: number
    try {
      count = readSync(master, buffer)
    } catch {
      return // EIO or EAGAIN: that was all
    }
    if (count === 0) return
    yield buffer.subarray(0, count)
  }
}

function loadNative(): NativeTerminals {
  const { requireBinary } = load('@lydell/node-pty/requireBinary.js') as {
    requireBinary(file: string): NativeTerminals // its native module, see unixTerminal.js of the same package
  }
  return requireBinary('pty.node')
}
