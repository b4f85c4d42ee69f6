import type { Color } from './dailySeries.ts'

// Complete class names, so that the build detects them.
export const chartFill: Record<Color, string> = {
  1: 'fill-chart-1',
  2: 'fill-chart-2',
  3: 'fill-chart-3',
  4: 'fill-chart-4',
  5: 'fill-chart-5',
  other: 'fill-chart-other',
}
export const chartMark: Record<Color, string> = {
  1: 'bg-chart-1',
  2: 'bg-chart-2',
  3: 'bg-chart-3',
  4: 'bg-chart-4',
  5: 'bg-chart-5',
  other: 'bg-chart-other',
}
