import { writeSync } from 'node:fs'
import { createInputBudget } from '../inside/inputBudget.ts'

/** Input queue of one pseudo-terminal. Writes in order, at the speed at which the program reads. */
export type TerminalInput = {
  /**
   * Accepts all of `bytes` or none. Calls `onWritten` once they are written to the kernel or dropped.
   * @throws AppError `terminal/input-full`
   */
  write(bytes: Uint8Array, onWritten?: () => void): void
  /**
   * Writes a reply of the terminal emulator. Drops it while input is queued, because the program is not reading then.
   */
  answer(bytes: Uint8Array): void
  /** Drops queued input. Must be called before the descriptor is closed. */
  close(): void
}

type Waiting = { bytes: Uint8Array; done: () => void }

const retryMs = { min: 2, max: 64 }

/**
 * Writes to the master without a libuv stream. libuv treats a master as a blocking descriptor and retries a write
 * forever when the kernel's buffer is full (EAGAIN). `master` must be O_NONBLOCK, so that no write blocks or is pending
 * when the descriptor is closed.
 * @param isOpen whether `master` still refers to this terminal
 */
export function createTerminalInput(master: number, isOpen: () => boolean): TerminalInput {
  const budget = createInputBudget()
  const queue: Waiting[] = []
  let delayMs = retryMs.min
  let retry: NodeJS.Timeout | undefined

  const drop = (): void => {
    clearTimeout(retry)
    retry = undefined
    for (const { done } of queue.splice(0)) done()
  }

  const flush = (): void => {
    retry = undefined
    for (let [first] = queue; first; [first] = queue) {
      const count = isOpen() ? tryWrite(master, first.bytes) : undefined
      if (count === undefined) {
        drop()
        return
      }
      if (count === 0) {
        retry = setTimeout(flush, delayMs)
        delayMs = Math.min(2 * delayMs, retryMs.max)
        return
      }
      delayMs = retryMs.min
      first.bytes = first.bytes.subarray(count)
      if (first.bytes.length > 0) continue
      queue.shift()
      first.done()
    }
  }

  const write = (bytes: Uint8Array, onWritten = (): void => {}): void => {
    if (bytes.length === 0) {
      onWritten()
      return
    }
    const release = budget.reserve(bytes.length)
    // Copied, because the caller's bytes may be a small part of a large message.
    queue.push({
      bytes: new Uint8Array(bytes),
      done() {
        release()
        onWritten()
      },
    })
    if (retry === undefined && queue.length === 1) flush()
  }

  return {
    write,
    answer(bytes) {
      if (budget.isEmpty) write(bytes)
    },
    close: drop,
  }
}

/** @returns 0 if the kernel's buffer is full, or undefined if the terminal's program has exited */
function tryWrite(master: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(master, bytes)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'EAGAIN' || code === 'EINTR' ? 0 : undefined
  }
}
