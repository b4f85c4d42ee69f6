import type { Sandbox } from '#shared/contract/sandboxes.ts'

const hourMs = 60 * 60_000

/** Cents of the present run so far; the record tells its price, not what passed since it was read. */
export function runCents({ cost, started_at }: Pick<Sandbox, 'cost' | 'started_at'>, nowMs: number): number {
  if (!cost || started_at === null) return 0
  const ran = (cost.cents_per_hour * Math.max(0, nowMs - Date.parse(started_at))) / hourMs
  return approximateCents(Math.max(cost.run_cents, ran))
}

/** Hundredths of a cent: `$0.0069`. */
export function approximateCents(cents: number): number {
  return Math.floor(cents * 100) / 100
}
