import { AppError } from '../../../../shared/appError.ts'
import { terminalLimits } from '../../../../shared/contract/terminals.ts'

/** Counts input that a program has yet to read, and refuses more than one terminal may hold. */
export type InputBudget = {
  readonly isEmpty: boolean
  /**
   * @returns a function that gives the bytes back
   * @throws AppError `terminal/input-full`
   */
  reserve(bytes: number): () => void
}

/** Bounds what the bookkeeping of tiny writes costs. */
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
          `The program has not read the ${bytesWaiting} bytes that were typed before.`,
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
