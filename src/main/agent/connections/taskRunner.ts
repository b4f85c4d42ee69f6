/** Runs one task at a time. A request during a run schedules one more run afterwards. */
export type TaskRunner = {
  request(): void
  waitUntilIdle(): Promise<void>
}

/** @param onError not called after `signal` is aborted */
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
