import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { getMetrics } from '#shared/contract/metrics.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { type MetricHistory, withReading } from './metricHistory.ts'

const everyMs = 2_000

/** Measures while visible: readings are shared, and the last minutes are stored. */
export function useMetrics({ id, status }: Sandbox, visible: boolean) {
  const agent = useAgent()
  const queryKey = ['metrics', id]
  return useQuery<MetricHistory>({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const reading = await agent(getMetrics, { id }, { signal })
      return withReading(client.getQueryData<MetricHistory>(queryKey), reading)
    },
    enabled: visible && status === 'running',
    // Not while the window is hidden: `refetchIntervalInBackground` is off.
    refetchInterval: everyMs,
    staleTime: everyMs,
    structuralSharing: false,
  })
}
