import type { getMetrics } from '#shared/contract/metrics.ts'
import type { Output } from '#shared/contract/route.ts'

export type Metrics = Output<typeof getMetrics>
export type MetricPoint = { atMs: number; cpuPercent: number; memoryMb: number; diskMb: number | null }
export type MetricHistory = { latest: Metrics; points: readonly MetricPoint[] }
/** Unix times in seconds, and the values measured at these times; null for a missing value. */
export type Series = { times: readonly number[]; values: readonly (number | null)[] }

export const historySeconds = 300
/** Maximum gap between two readings of a continuous line, in milliseconds. A longer gap interrupts the line. */
const maxGapMs = 12_000

export function withReading(history: MetricHistory | undefined, latest: Metrics): MetricHistory {
  const point = {
    atMs: Date.parse(latest.at),
    cpuPercent: latest.cpu_percent,
    memoryMb: latest.memory_used_mb,
    diskMb: latest.disk_used_mb,
  }
  const recent = (history?.points ?? []).filter(
    ({ atMs }) => atMs < point.atMs && atMs >= point.atMs - historySeconds * 1000,
  )
  return { latest, points: [...recent, point] }
}

/** Builds a series that is interrupted at gaps. */
export function buildSeries(points: readonly MetricPoint[], pick: (point: MetricPoint) => number | null): Series {
  const times: number[] = []
  const values: (number | null)[] = []
  let before: number | undefined
  for (const point of points) {
    if (before !== undefined && point.atMs - before > maxGapMs) {
      times.push((before + 1) / 1000)
      values.push(null)
    }
    times.push(point.atMs / 1000)
    values.push(pick(point))
    before = point.atMs
  }
  return { times, values }
}

export function findMaximum({ values }: Series): number {
  return values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0)
}
