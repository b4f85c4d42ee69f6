export type FlushRounds = {
  /** Reports incoming `bytes`. */
  touch(bytes: number): void
  close(): void
}

/** In a flood, output is sent in large runs, since each run has a fixed cost. Otherwise delays stay invisible. */
const rounds = { normal: { ms: 1, enoughBytes: 64 * 1024 }, flood: { ms: 8, enoughBytes: 256 * 1024 } } as const
/** More than this in one round is a flood. */
const floodBytes = 64 * 1024

/**
 * Schedules sending of output: the first byte after a pause immediately, a continuing flow in batches, because ten
 * thousand small messages a second would cost more than their content.
 */
export function createFlushRounds(flush: () => void): FlushRounds {
  let pause: NodeJS.Timeout | undefined
  let round: { ms: number; enoughBytes: number } = rounds.normal
  let waiting = 0
  let carried = 0

  const send = (): void => {
    waiting = 0
    flush()
  }

  const begin = (next: typeof round): void => {
    round = next
    carried = 0
    pause = setTimeout(over, round.ms)
  }

  const over = (): void => {
    pause = undefined
    if (waiting === 0) {
      round = rounds.normal
      return
    }
    const next = carried >= floodBytes ? rounds.flood : rounds.normal
    send()
    begin(next)
  }

  return {
    touch(bytes) {
      carried += bytes
      if (pause) {
        waiting += bytes
        if (waiting >= round.enoughBytes) send()
        return
      }
      send()
      begin(round)
    },
    close() {
      clearTimeout(pause)
      pause = undefined
    },
  }
}
