import type { Sandbox } from '#shared/contract/sandboxes.ts'

const hourMs = 60 * 60_000

/**
 * Returns the cost of the current run in cents. The record may be outdated, so the cost is extrapolated from its hourly
 * price.
 */
export function computeRunCents({ cost, started_at }: Pick<Sandbox, 'cost' | 'started_at'>, nowMs: number): number {
  if (!cost || started_at === null) return 0
  const ran = (cost.cents_per_hour * Math.max(0, nowMs - Date.parse(started_at))) / hourMs
  return approximateCents(Math.max(cost.run_cents, ran))
}

/** Rounds down to hundredths of a cent, as in `$0.0069`. */
export function approximateCents(cents: number): number {
  return Math.floor(cents * 100) / 100
}
