/** Runs one task at a time. A request during a run makes it run once more afterwards. */
export type TaskRunner = {
  request(): void
  waitUntilIdle(): Promise<void>
}

/** @param onError hears of no error after `signal` was aborted */
export function createTaskRunner(options: {
  task: () => Promise<void>
  onError: (error: unknown) => void
  signal: AbortSignal
}): TaskRunner {
  const { task, onError, signal } = options
  let running: Promise<void> | undefined
  let isRequested = false

  const run = async (): Promise<void> => {
    do {
      isRequested = false
      try {
        await task()
      } catch (error) {
        if (!signal.aborted) onError(error)
      }
    } while (isRequested && !signal.aborted)
    running = undefined
  }
  return {
    request() {
      isRequested = true
      running ??= run()
    },
    async waitUntilIdle() {
      await running
    },
  }
}
