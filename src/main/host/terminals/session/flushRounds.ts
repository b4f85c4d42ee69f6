export type FlushRounds = {
  /** Reports the arrival of `bytes` bytes. */
  touch(bytes: number): void
  close(): void
}

/** A flood is sent in large batches, because each batch has a fixed cost. Otherwise delays stay imperceptible. */
const rounds = { normal: { ms: 1, enoughBytes: 64 * 1024 }, flood: { ms: 8, enoughBytes: 256 * 1024 } } as const
/** Bytes in one round above which output counts as a flood. */
const floodBytes = 64 * 1024

/**
 * Schedules the sending of output. Sends the first byte after a pause immediately and continuous output in batches,
 * because ten thousand small messages per second would cost more than their content.
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
