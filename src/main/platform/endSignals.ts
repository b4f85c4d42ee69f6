/**
 * Ends a program on SIGTERM, SIGINT and SIGHUP: `end` at the first, by force at the second. npm hands on a Ctrl-C that
 * the terminal sent already, so that what follows at once is the same signal.
 * @returns what stops listening
 */
export function onEndSignal({
  end,
  force,
  now,
}: {
  end: () => void
  force: () => void
  now: () => number
}): () => void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const sameMs = 500
  let firstAt: number | undefined
  const listener = () => {
    if (firstAt === undefined) {
      firstAt = now()
      end()
    } else if (now() - firstAt > sameMs) force()
  }
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
