type Deadline<T> = {
  ms: number
  /** Aborts before the deadline, with the reason of the signal. */
  signal?: AbortSignal
  run: (signal: AbortSignal) => Promise<T>
  late: () => Error
  /** Receives a result that arrives after the call was aborted. */
  discard?: (result: T) => Promise<void>
}

/** Runs `run` with a timeout. Its signal fires on timeout. A `run` that ignores the signal is abandoned. */
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
