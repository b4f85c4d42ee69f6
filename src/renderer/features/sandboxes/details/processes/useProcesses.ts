import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { listProcesses, type ProcessSignal, type SandboxProcess, signalProcess } from '#shared/contract/processes.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'

const everyMs = 3_000

export function useProcesses({ id, status }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({
    queryKey: ['processes', id],
    queryFn: async ({ signal }) => (await agent(listProcesses, { id }, { signal })).processes,
    enabled: visible && status === 'running',
    refetchInterval: everyMs,
    staleTime: everyMs,
  })
}

export function useSignal({ id }: Sandbox): (process: SandboxProcess, signal: ProcessSignal) => Promise<void> {
  const agent = useAgent()
  const queryClient = useQueryClient()
  return async ({ pid }, signal) => {
    try {
      await agent(signalProcess, { id, pid, signal })
    } catch (error) {
      notify.failed(error, { title: `Process ${pid} was not sent ${signal}` })
    }
    await queryClient.invalidateQueries({ queryKey: ['processes', id] })
  }
}
