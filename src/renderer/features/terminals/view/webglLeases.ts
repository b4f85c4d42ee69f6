/** A terminal that draws with WebGL while it holds a lease, and without it otherwise. */
export type WebglHolder = {
  start(): boolean
  stop(): void
  /** False after the browser took its context away. */
  isDrawing(): boolean
}

export type WebglLeases = {
  /** For a terminal that comes into view. */
  take(holder: WebglHolder): void
  giveBack(holder: WebglHolder): void
}

/**
 * A page has about sixteen WebGL contexts, and the browser kills the oldest without asking: so no more than `limit`
 * terminals hold one, and the one longest out of view gives its own up.
 */
export function createWebglLeases(limit: number): WebglLeases {
  const holders = new Set<WebglHolder>() // oldest first
  return {
    take(holder) {
      for (const lease of holders) if (!lease.isDrawing()) holders.delete(lease)
      if (!holders.delete(holder)) {
        const [oldest] = holders
        if (oldest !== undefined && holders.size >= limit) {
          holders.delete(oldest)
          oldest.stop()
        }
        if (!holder.start()) return
      }
      holders.add(holder)
    },
    giveBack(holder) {
      if (holders.delete(holder)) holder.stop()
    },
  }
}
