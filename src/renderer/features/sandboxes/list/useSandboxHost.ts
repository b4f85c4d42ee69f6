import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import { getSandboxHost, replaceSandboxHost, type SandboxHost } from '#shared/contract/sandboxHost.ts'

const hostKey = ['sandbox-host'] as const
/** While the host is not connected. */
const intervalMs = 5_000

/** Returns the state of the sandbox host; undefined until it is read, and for accounts other than the owner's. */
export function useSandboxHost(): { host: SandboxHost | undefined; replace: () => Promise<void> } {
  const agent = useAgent()
  const queryClient = useQueryClient()
  useLiveEvent((event) => {
    if (event.type === 'ready') void readAgain(queryClient, hostKey)
  })
  const { data } = useQuery({
    queryKey: hostKey,
    queryFn: ({ signal }) => agent(getSandboxHost, {}, { signal }),
    retry: false,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'connected' ? intervalMs : false),
  })
  return {
    host: data,
    async replace() {
      try {
        await agent(replaceSandboxHost, {})
      } finally {
        await readAgain(queryClient, hostKey)
      }
    },
  }
}
