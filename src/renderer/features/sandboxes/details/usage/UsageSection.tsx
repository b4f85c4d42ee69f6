import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Section } from '#renderer/ui/section/Section.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { useTheme } from '#renderer/ui/theme/useTheme.ts'
import { getMetrics } from '#shared/contract/metrics.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { buildSeries, findMaximum, type MetricHistory, withReading } from './metricHistory.ts'
import { computeFigures, type Figure } from './usageFigures.ts'

const refetchIntervalMs = 2_000

const MetricChart = lazy(() => import('./MetricChart.tsx').then(({ MetricChart: Chart }) => ({ default: Chart })))

type UsageSectionProps = { sandbox: Sandbox; visible: boolean }

export function UsageSection({ sandbox, visible }: UsageSectionProps) {
  return (
    <Section id="usage" title="Usage">
      <Usage sandbox={sandbox} visible={visible} />
    </Section>
  )
}

function Usage({ sandbox, visible }: UsageSectionProps) {
  const { data, error, refetch } = useMetrics(sandbox, visible)
  const running = sandbox.status === 'running'
  if (!data) {
    if (!running) return <p className="text-muted">Start the sandbox to see its usage.</p>
    if (error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
    return <p className="text-muted">Measuring…</p>
  }
  return (
    <div className={running ? undefined : 'opacity-60'}>
      <ul className="flex flex-col gap-2">
        {computeFigures(sandbox, data.latest).map((figure) => (
          <Metric key={figure.label} figure={figure} history={data} />
        ))}
      </ul>
      {!running && (
        <p className="mt-2 text-small text-faint">
          Stopped. Last values from <TimeAgo at={data.latest.at} spelled />.
        </p>
      )}
    </div>
  )
}

function Metric({ figure, history }: { figure: Figure; history: MetricHistory }) {
  const { label, value, of, limit, pick, notEnforced } = figure
  const series = buildSeries(history.points, pick)
  const peak = findMaximum(series)
  const theme = useTheme()
  return (
    <li className="flex items-center gap-3" data-metric={label} data-points={history.points.length}>
      <div className="w-28 shrink-0">
        <div className="text-small text-faint">
          {label}
          {notEnforced && <span title="This computer cannot enforce the limit."> · not enforced</span>}
        </div>
        <div className="truncate tabular-nums">
          <span className="font-medium text-text">{value}</span> <span className="text-small text-faint">{of}</span>
        </div>
        <span className="sr-only">{figure.describePeak(peak)}</span>
      </div>
      <Suspense fallback={<div className="h-10 flex-1" />}>
        <MetricChart key={theme} series={series} limit={limit} highest={peak} />
      </Suspense>
    </li>
  )
}

/** Polls metrics while visible. Readings are shared between components, and the last minutes are stored. */
function useMetrics({ id, status }: Sandbox, visible: boolean) {
  const agent = useAgent()
  const queryKey = ['metrics', id]
  return useQuery<MetricHistory>({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const reading = await agent(getMetrics, { id }, { signal })
      return withReading(client.getQueryData<MetricHistory>(queryKey), reading)
    },
    enabled: visible && status === 'running',
    // Paused while the window is hidden, because `refetchIntervalInBackground` is off.
    refetchInterval: refetchIntervalMs,
    staleTime: refetchIntervalMs,
    structuralSharing: false,
  })
}
