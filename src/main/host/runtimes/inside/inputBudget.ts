import { AppError } from '#shared/appError.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'

/** Bounds the unread input of one terminal. */
export type InputBudget = {
  readonly isEmpty: boolean
  /**
   * @returns a function that releases the bytes
   * @throws AppError `terminal/input-full`
   */
  reserve(bytes: number): () => void
}

/** Maximum queued writes, because small writes have a fixed cost beyond their bytes. */
const maxWrites = 4_096

export function createInputBudget(): InputBudget {
  let bytesWaiting = 0
  let writesWaiting = 0
  return {
    get isEmpty() {
      return writesWaiting === 0
    },
    reserve(bytes) {
      if (bytesWaiting + bytes > terminalLimits.maxInputBytes || writesWaiting >= maxWrites) {
        throw new AppError(
          'terminal/input-full',
          `The program has not read the ${bytesWaiting} bytes of earlier input.`,
        )
      }
      bytesWaiting += bytes
      writesWaiting += 1
      return () => {
        bytesWaiting -= bytes
        writesWaiting -= 1
      }
    },
  }
}
