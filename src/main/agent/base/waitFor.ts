type WaitOptions = {
  waitMs: number
  /** Signals that end the wait, such as of the request and of the process. */
  signals: readonly (AbortSignal | undefined)[]
}

/**
 * Resolves at the first call of the subscribed listener, after `waitMs`, or when a signal is aborted. Never rejects.
 * @param subscribe adds the listener and returns a function that removes it
 */
export async function waitFor(
  subscribe: (listener: () => void) => () => void,
  { waitMs, signals }: WaitOptions,
): Promise<void> {
  if (waitMs <= 0 || signals.some((signal) => signal?.aborted)) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      unsubscribe()
      for (const signal of signals) signal?.removeEventListener('abort', end)
      resolve()
    }
    const unsubscribe = subscribe(end)
    const timer = setTimeout(end, waitMs)
    for (const signal of signals) signal?.addEventListener('abort', end)
  })
}
