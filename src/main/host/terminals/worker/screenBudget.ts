import type { Screen } from '../emulator/screen.ts'

type WeighedScreen = Pick<Screen, 'weigh' | 'dropOldest'>

export type ScreenBudget = {
  /** Must be called after output was parsed, while the screen is idle. */
  recordParsed(screen: WeighedScreen): void
  closed(screen: WeighedScreen): void
}

/** Maximum scrollback of all screens of a worker, in bytes. Thousands of typical lines take about 1 MB. */
const defaultMaxBytes = 192 * 1024 * 1024
const weighEveryMs = 250

/**
 * Limits the memory of all screens of a worker, because output with expensive characters may need a hundred times more
 * memory than plain text. Above the limit, the largest screen drops its oldest lines.
 */
export function createScreenBudget({
  maxBytes = defaultMaxBytes,
  now = () => performance.now(),
}: {
  maxBytes?: number
  now?: () => number
} = {}): ScreenBudget {
  const weights = new Map<WeighedScreen, { bytes: number; weighedMs: number }>()
  let totalBytes = 0

  const weigh = (screen: WeighedScreen): void => {
    const bytes = screen.weigh()
    totalBytes += bytes - (weights.get(screen)?.bytes ?? 0)
    weights.set(screen, { bytes, weighedMs: now() })
  }

  return {
    recordParsed(screen) {
      const weighedMs = weights.get(screen)?.weighedMs ?? Number.NEGATIVE_INFINITY
      if (now() - weighedMs < weighEveryMs) return
      weigh(screen)
      if (totalBytes <= maxBytes) return
      const [largest] = [...weights].sort(([, a], [, b]) => b.bytes - a.bytes)
      if (!largest) return
      largest[0].dropOldest()
      weigh(largest[0])
    },
    closed(screen) {
      totalBytes -= weights.get(screen)?.bytes ?? 0
      weights.delete(screen)
    },
  }
}
