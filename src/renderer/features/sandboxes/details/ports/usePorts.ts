import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { ApiClient } from '#renderer/api/agentClient.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import { useOpenPort } from '#renderer/ui/sandboxes/useOpenPort.ts'
import { showErrorNotice } from '#renderer/ui/showErrorNotice.ts'
import {
  createPortToken,
  type ExposedPort,
  exposePort,
  listListeningPorts,
  listPorts,
  removePort,
} from '#shared/contract/ports.ts'
import type { Input } from '#shared/contract/route.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'

const everyMs = 3_000

export const allPortsKey = ['ports'] as const
export const portsKey = (id: SandboxId) => [...allPortsKey, id] as const

export function usePorts({ id }: Sandbox, visible: boolean) {
  const agent = useAgent()
  return useQuery({ ...portsQuery(agent, id), enabled: visible })
}

/** Returns the exposed ports of several sandboxes, as far as they are loaded. */
export function usePortsOfSandbox(sandboxes: readonly Sandbox[]): { sandbox: Sandbox; port: ExposedPort }[] {
  const agent = useAgent()
  const results = useQueries({ queries: sandboxes.map(({ id }) => portsQuery(agent, id)) })
  return sandboxes.flatMap((sandbox, place) => (results[place]?.data ?? []).map((port) => ({ sandbox, port })))
}

function portsQuery(agent: ApiClient, id: SandboxId) {
  return {
    queryKey: portsKey(id),
    queryFn: async ({ signal }: { signal: AbortSignal }) => (await agent(listPorts, { id }, { signal })).ports,
  }
}

/** Returns the ports on which programs listen. @returns undefined while unknown */
export function useListening({ id, status }: Sandbox, visible: boolean): readonly number[] | undefined {
  const agent = useAgent()
  const running = status === 'running'
  const { data } = useQuery({
    queryKey: ['listening', id],
    queryFn: async ({ signal }) => (await agent(listListeningPorts, { id }, { signal })).ports,
    enabled: visible && running,
    refetchInterval: everyMs,
    staleTime: everyMs,
  })
  return running ? data : []
}

export type PortActions = {
  /** Rejects, so that the form can show the error. */
  expose(port: Omit<Input<typeof exposePort>, 'id'>): Promise<ExposedPort>
  change(port: ExposedPort, visibility: ExposedPort['visibility']): Promise<void>
  remove(port: ExposedPort): Promise<void>
  /**
   * Opens the port in a browser tab. A private port is opened with a token in the URL fragment, which browsers do not
   * send to servers. `path` starts with `/`.
   */
  open(port: ExposedPort, path?: string): Promise<void>
  /** Creates a token for a private port and reports errors. @returns undefined if it failed */
  token(port: ExposedPort): Promise<{ token: string; expires_at: string } | undefined>
}

export function usePortActions({ id }: Sandbox): PortActions {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const open = useOpenPort()
  const expose: PortActions['expose'] = async (port) => {
    const exposed = await agent(exposePort, { id, ...port })
    await readAgain(queryClient, portsKey(id))
    return exposed
  }
  return {
    expose,
    async change({ port }, visibility) {
      await showErrorNotice(`Could not change port ${port}`, () => expose({ port, visibility }))
    },
    async remove({ port }) {
      await showErrorNotice(`Could not remove port ${port}`, () => agent(removePort, { id, port }))
      await readAgain(queryClient, portsKey(id))
    },
    open: (port, path) => open({ id }, port, path),
    token: ({ port }) =>
      showErrorNotice(`Could not create a token for port ${port}`, () => agent(createPortToken, { id, port })),
  }
}
