export type FlushRounds = {
  /** Tells that `bytes` came in. */
  touch(bytes: number): void
  close(): void
}

/** A flood goes in large runs, each of which costs the same as a small one; else nobody waits longer than can be seen. */
const rounds = { usual: { ms: 1, enoughBytes: 64 * 1024 }, flood: { ms: 8, enoughBytes: 256 * 1024 } } as const
/** So much in one round is a flood. */
const floodBytes = 64 * 1024

/**
 * Decides when output goes on its way: the first byte after a pause at once; while more keeps coming, in runs,
 * because ten thousand small messages a second would cost more than what they carry.
 */
export function flushRounds(flush: () => void): FlushRounds {
  let pause: NodeJS.Timeout | undefined
  let round: { ms: number; enoughBytes: number } = rounds.usual
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
      round = rounds.usual
      return
    }
    const next = carried >= floodBytes ? rounds.flood : rounds.usual
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
