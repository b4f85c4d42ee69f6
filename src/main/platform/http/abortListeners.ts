/** Listeners for the end of a long-lived object, such as a server, of which many short-lived objects are notified. */
export type AbortListeners = {
  /** Runs the task at the end, or immediately if it has already ended. @returns a function that removes the task */
  onceEnded(task: () => void): () => void
}

type ListenerNode = { task: () => void; before: ListenerNode | undefined; next: ListenerNode | undefined }

/**
 * Does not add listeners to the signal. Node.js leaks them, because a removed listener still references its successors,
 * and with them whole requests, until the next full garbage collection.
 */
export function createAbortListeners(signal: AbortSignal): AbortListeners {
  let last: ListenerNode | undefined
  const forget = (waiting: ListenerNode): void => {
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
      const waiting: ListenerNode = { task, before: undefined, next: undefined }
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
