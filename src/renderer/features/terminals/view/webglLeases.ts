/** Terminal that renders with WebGL while it holds a lease, and with DOM elements otherwise. */
export type WebglHolder = {
  start(): boolean
  stop(): void
  /** Whether the WebGL context is active. False after the browser revoked it. */
  isDrawing(): boolean
}

export type WebglLeases = {
  /** Leases a context to a terminal that becomes visible. */
  take(holder: WebglHolder): void
  giveBack(holder: WebglHolder): void
}

/**
 * Limits the terminals that render with WebGL to `limit`. A page has about 16 WebGL contexts, and browsers revoke the
 * oldest one when exceeded. The terminal that was shown least recently releases its lease.
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
