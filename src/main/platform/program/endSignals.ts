/**
 * Stops a program on SIGTERM, SIGINT and SIGHUP: the first signal calls `end`, the second one exits immediately. npm
 * forwards a Ctrl-C that the terminal has already sent, so a second signal within moments is ignored. With `reload`,
 * SIGHUP reloads instead.
 * @returns a function that removes the handlers
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
