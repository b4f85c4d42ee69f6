import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { Section } from '#renderer/ui/section/Section.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { listProcesses, type ProcessSignal, type SandboxProcess, signalProcess } from '#shared/contract/processes.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { ProcessTable } from './ProcessTable.tsx'
import { orderAfter, type ProcessOrder, sortProcesses } from './sortProcesses.ts'

const refetchIntervalMs = 3_000

type ProcessesSectionProps = { sandbox: Sandbox; visible: boolean }

/** Maximum number of rendered rows. The number of remaining processes is shown below. */
const maxRows = 200

export function ProcessesSection({ sandbox, visible }: ProcessesSectionProps) {
  return (
    <Section id="processes" title="Processes">
      <Processes sandbox={sandbox} visible={visible} />
    </Section>
  )
}

function Processes({ sandbox, visible }: ProcessesSectionProps) {
  const { data, error, isPending, refetch } = useProcesses(sandbox, visible)
  const [order, setOrder] = useState<ProcessOrder>({ column: 'cpu_percent', descending: true })
  const send = useSignal(sandbox)
  if (sandbox.status !== 'running') return <p className="text-muted">No running processes.</p>
  if (isPending) return <SkeletonRows label="Loading processes…" count={3} rowClassName="h-6" />
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const rows = sortProcesses(data, order)
  return (
    <>
      <ProcessTable
        processes={rows.slice(0, maxRows)}
        order={order}
        onOrder={(column) => setOrder(orderAfter(order, column))}
        onSignal={(process, signal) => void send(process, signal)}
      />
      {rows.length > maxRows && <p className="pt-1 text-small text-faint">and {rows.length - maxRows} more</p>}
    </>
  )
}

function useProcesses({ id, status }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: ['processes', id],
    queryFn: async ({ signal }) => (await agent(listProcesses, { id }, { signal })).processes,
    enabled: visible && status === 'running',
    refetchInterval: refetchIntervalMs,
    staleTime: refetchIntervalMs,
  })
}

function useSignal({ id }: Sandbox): (process: SandboxProcess, signal: ProcessSignal) => Promise<void> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return async ({ pid }, signal) => {
    try {
      await agent(signalProcess, { id, pid, signal })
    } catch (error) {
      notify.failed(error, { title: `Could not send ${signal} to process ${pid}` })
    }
    await queryClient.invalidateQueries({ queryKey: ['processes', id] })
  }
}
