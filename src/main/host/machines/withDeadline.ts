type Deadline<T> = {
  ms: number
  /** Gives up earlier, with its reason. */
  signal?: AbortSignal
  run: (signal: AbortSignal) => Promise<T>
  late: () => Error
  /** Gets a result that came after it was given up. */
  discard?: (result: T) => Promise<void>
}

/** Waits for `run` no longer than `ms`. Its signal fires then, but also a `run` that ignores it is given up. */
export async function withDeadline<T>({ ms, signal, run, late, discard }: Deadline<T>): Promise<T> {
  const controller = new AbortController()
  const call = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(late()), ms)
  signal?.addEventListener('abort', call, { once: true })
  if (signal?.aborted) call()
  const running = run(controller.signal)
  try {
    return await Promise.race([running, waitForAbort(controller.signal)])
  } catch (error) {
    if (controller.signal.aborted) running.then((result) => discard?.(result)).catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', call)
  }
}

function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
