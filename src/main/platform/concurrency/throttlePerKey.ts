export type ThrottlePerKey<Key> = {
  mark(key: Key): void
  /** Drops the state of a key. */
  forget(key: Key): void
  close(): void
}

type Quiet = { again: boolean; timer: NodeJS.Timeout }

const quietMs = 1_000

/** Creates a throttle that reports the first event of a key immediately and further ones once per second. */
export function createThrottlePerKey<Key>(report: (key: Key) => void): ThrottlePerKey<Key> {
  const quiet = new Map<Key, Quiet>()

  const over = (key: Key): void => {
    const again = quiet.get(key)?.again
    quiet.delete(key)
    if (again) reportNow(key)
  }

  const reportNow = (key: Key): void => {
    quiet.set(key, { again: false, timer: setTimeout(() => over(key), quietMs).unref() })
    report(key)
  }

  const forget = (key: Key): void => {
    clearTimeout(quiet.get(key)?.timer)
    quiet.delete(key)
  }

  return {
    mark(key) {
      const state = quiet.get(key)
      if (state) state.again = true
      else reportNow(key)
    },
    forget,
    close() {
      for (const key of [...quiet.keys()]) forget(key)
    },
  }
}
