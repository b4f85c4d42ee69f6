export type FlushRounds = {
  /** Tells that `bytes` came in. */
  touch(bytes: number): void
  close(): void
}

const enoughBytes = 32 * 1024
const mostRounds = 8

/**
 * Decides when output goes on its way: the first byte after a pause at once; while more comes in each round of the
 * event loop, in runs, because ten thousand small messages a second would cost more than what they carry.
 */
export function flushRounds(flush: () => void): FlushRounds {
  let armed: NodeJS.Immediate | undefined
  let waiting = 0
  let since = 0
  let rounds = 0

  const arm = (): void => {
    since = 0
    armed = setImmediate(round)
  }

  const round = (): void => {
    armed = undefined
    if (waiting === 0) return
    rounds++
    if (since === 0 || waiting >= enoughBytes || rounds >= mostRounds) {
      waiting = 0
      rounds = 0
      flush()
    }
    arm()
  }

  return {
    touch(bytes) {
      if (armed) {
        waiting += bytes
        since += bytes
        return
      }
      flush()
      arm()
    },
    close() {
      clearImmediate(armed)
      armed = undefined
    },
  }
}
