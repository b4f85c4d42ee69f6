/**
 * Ends a program on SIGTERM, SIGINT and SIGHUP: `end` at the first, by force at the second. npm hands on a Ctrl-C that
 * the terminal sent already, so a second one within moments is a duplicate. With `reload`, SIGHUP reloads instead.
 * @returns what stops listening
 */
export function handleEndSignals({
  end,
  force,
  reload,
  now,
}: {
  end: (signal: NodeJS.Signals) => void
  force: () => void
  reload?: (() => void) | undefined
  now: () => number
}): () => void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  const sameMs = 500
  let firstAt: number | undefined
  const listener = (signal: NodeJS.Signals) => {
    if (signal === 'SIGHUP' && reload) {
      reload()
      return
    }
    if (firstAt === undefined) {
      firstAt = now()
      end(signal)
    } else if (now() - firstAt > sameMs) force()
  }
  for (const signal of signals) process.on(signal, listener)
  return () => {
    for (const signal of signals) process.off(signal, listener)
  }
}
