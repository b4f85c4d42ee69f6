import { expect, test } from 'vitest'
import { buildSeries, findMaximum, type Metrics, withReading } from './metricHistory.ts'
import { formatMegabytes, formatPercent } from './usageFigures.ts'

const reading = (seconds: number, cpu = 10): Metrics => ({
  cpu_percent: cpu,
  memory_used_mb: 50,
  memory_limit_mb: 512,
  disk_used_mb: null,
  disk_limit_mb: 1024,
  processes: 1,
  uptime_seconds: seconds,
  at: new Date(seconds * 1000).toISOString() as Metrics['at'],
})
const history = (...seconds: number[]) =>
  seconds.map((second) => reading(second)).reduce<ReturnType<typeof withReading> | undefined>(withReading, undefined) ??
  withReading(undefined, reading(0))

test('retains the last five minutes and the newest reading', () => {
  const { latest, points } = history(0, 100, 350)
  expect(points.map(({ atMs }) => atMs)).toEqual([100_000, 350_000])
  expect(latest.uptime_seconds).toBe(350)
})

test('ignores a repeated or late reading', () => {
  expect(history(10, 12, 12).points.map(({ atMs }) => atMs)).toEqual([10_000, 12_000])
})

test('breaks the line where readings are missing', () => {
  const { times, values } = buildSeries(history(10, 12, 60).points, ({ memoryMb }) => memoryMb)
  expect(times).toEqual([10, 12, 12.001, 60])
  expect(values).toEqual([50, 50, null, 50])
})

test('ignores missing values in the maximum', () => {
  const { points } = history(10, 12)
  expect(findMaximum(buildSeries(points, ({ diskMb }) => diskMb))).toBe(0)
  expect(findMaximum(buildSeries(points, ({ cpuPercent }) => cpuPercent))).toBe(10)
})

test('formats numbers with a precision that fits their size', () => {
  expect([0, 0.04, 0.3, 9.94, 9.96, 143.6].map(formatPercent)).toEqual(['0%', '0%', '0.3%', '9.9%', '10%', '144%'])
  expect([0, 3.62, 41.4, 1023, 1536].map(formatMegabytes)).toEqual(['0.0 MB', '3.6 MB', '41 MB', '1023 MB', '1.5 GB'])
})
