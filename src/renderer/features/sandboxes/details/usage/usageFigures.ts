import { formatMemory } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { MetricPoint, Metrics } from './metricHistory.ts'

export type Figure = {
  label: string
  value: string
  of: string
  limit: number
  notEnforced: boolean
  pick(point: MetricPoint): number | null
  /** Text alternative of the chart. */
  describePeak(highest: number): string
}

const minutes = 'in the last five minutes'

export function computeFigures({ vcpu, memory_mb, disk_gb, enforced }: Sandbox, latest: Metrics): Figure[] {
  const disk = latest.disk_used_mb
  return [
    {
      label: 'CPU',
      value: formatPercent(latest.cpu_percent),
      of: `of ${vcpu * 100}%`,
      limit: vcpu * 100,
      notEnforced: !enforced.cpu,
      pick: ({ cpuPercent }) => cpuPercent,
      describePeak: (peak) => `Peak ${formatPercent(peak)} ${minutes}.`,
    },
    {
      label: 'Memory',
      value: formatMegabytes(latest.memory_used_mb),
      of: `of ${formatMemory(memory_mb)}`,
      limit: memory_mb,
      notEnforced: !enforced.memory,
      pick: ({ memoryMb }) => memoryMb,
      describePeak: (peak) => `Peak ${formatMegabytes(peak)} ${minutes}.`,
    },
    {
      label: 'Disk',
      value: disk === null ? 'Counting…' : formatMegabytes(disk),
      of: disk === null ? '' : `of ${disk_gb} GB`,
      limit: disk_gb * 1024,
      notEnforced: !enforced.disk,
      pick: ({ diskMb }) => diskMb,
      describePeak: (peak) => `Peak ${formatMegabytes(peak)} ${minutes}.`,
    },
  ]
}

export function formatPercent(percent: number): string {
  return `${percent < 9.95 && percent >= 0.05 ? percent.toFixed(1) : Math.round(percent)}%`
}

export function formatMegabytes(megabytes: number): string {
  if (megabytes >= 1024) return `${(megabytes / 1024).toFixed(1)} GB`
  return `${megabytes < 9.95 ? megabytes.toFixed(1) : Math.round(megabytes)} MB`
}
