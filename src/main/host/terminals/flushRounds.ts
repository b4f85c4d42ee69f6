export type FlushRounds = {
  /** Tells that `bytes` came in. */
  touch(bytes: number): void
  close(): void
}

const enoughBytes = 64 * 1024
const pauseMs = 2

/**
 * Decides when output goes on its way: the first byte after a pause at once; while more keeps coming, in runs,
 * because ten thousand small messages a second would cost more than what they carry.
 */
export function flushRounds(flush: () => void): FlushRounds {
  let pause: NodeJS.Timeout | undefined
  let waiting = 0

  const send = (): void => {
    waiting = 0
    flush()
  }

  const over = (): void => {
    if (waiting > 0) {
      send()
      pause?.refresh()
    } else pause = undefined
  }

  return {
    touch(bytes) {
      if (pause) {
        waiting += bytes
        if (waiting >= enoughBytes) send()
        return
      }
      send()
      pause = setTimeout(over, pauseMs)
    },
    close() {
      clearTimeout(pause)
      pause = undefined
    },
  }
}
