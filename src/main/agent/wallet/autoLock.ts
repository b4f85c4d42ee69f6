const minuteMs = 60_000

/**
 * Locks an unlocked wallet some time after its last use. Elapsed time is also checked on use, because timers do not run
 * while the computer sleeps.
 */
export function createAutoLock({
  now,
  minutes,
  end,
}: {
  now: () => number
  minutes: () => number | null
  end: () => void
}) {
  let lastUseMs: number | undefined
  let timer: NodeJS.Timeout | undefined

  const getRemainingMs = (): number | undefined => {
    const after = minutes()
    if (after === null || lastUseMs === undefined) return undefined
    if (lastUseMs > now()) lastUseMs = now() // the clock was set back
    return lastUseMs + after * minuteMs - now()
  }
  const check = (): void => {
    clearTimeout(timer)
    const remainingMs = getRemainingMs()
    if (remainingMs === undefined) return
    if (remainingMs > 0) {
      timer = setTimeout(check, remainingMs)
      timer.unref()
      return
    }
    lastUseMs = undefined
    end()
  }
  return {
    recordUse(): void {
      lastUseMs = now()
      check()
    },
    check,
    stop(): void {
      lastUseMs = undefined
      clearTimeout(timer)
    },
  }
}
