/** The end of what outlives the many that wait for it, such as a server and its requests. */
export type Ending = {
  /** Runs the task at the end; at once where that has come. @returns forgets it */
  onceEnded(task: () => void): () => void
}

type Waiting = { task: () => void; before: Waiting | undefined; next: Waiting | undefined }

/**
 * Avoids listeners on the signal: Node's list of them leaks, because a removed one keeps pointing to its successors,
 * and with them whole requests, until the next full garbage collection.
 */
export function createEnding(signal: AbortSignal): Ending {
  let last: Waiting | undefined
  const forget = (waiting: Waiting): void => {
    const { before, next } = waiting
    if (before) before.next = next
    if (next) next.before = before
    if (last === waiting) last = before
    waiting.before = undefined
    waiting.next = undefined
  }
  const end = (): void => {
    for (let waiting = last; waiting; waiting = last) {
      forget(waiting)
      waiting.task()
    }
  }
  signal.addEventListener('abort', end, { once: true })
  return {
    onceEnded(task) {
      const waiting: Waiting = { task, before: undefined, next: undefined }
      if (signal.aborted) {
        task()
        return () => {}
      }
      waiting.before = last
      if (last) last.next = waiting
      last = waiting
      return () => forget(waiting)
    },
  }
}
