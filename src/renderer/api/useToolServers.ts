import { useQuery } from '@tanstack/react-query'
import type { Input } from '#shared/contract/route.ts'
import {
  addToolServer,
  changeExternalTool,
  changeToolServer,
  type ExternalTool,
  listToolServers,
  removeToolServer,
  type ToolServerId,
  testToolServer,
} from '#shared/contract/toolServers.ts'
import { useAgent } from './AgentProvider.tsx'

export const toolServersKey = ['tool-servers'] as const

/** Reads third-party MCP servers and the tools that the user allowed. */
export function useToolServers() {
  const agent = useAgent()
  return useQuery({
    queryKey: toolServersKey,
    queryFn: async ({ signal }) => (await agent(listToolServers, {}, { signal })).servers,
  })
}

type Choice = Pick<ExternalTool, 'name' | 'digest' | 'enabled' | 'ask'>

/** Returns actions on tool servers. Results arrive through events. */
export function useToolServerActions() {
  const agent = useAgent()
  return {
    add: (server: Input<typeof addToolServer>) => agent(addToolServer, server),
    turn: (serverId: ToolServerId, enabled: boolean) => agent(changeToolServer, { serverId, enabled }),
    test: (serverId: ToolServerId) => agent(testToolServer, { serverId }),
    remove: (serverId: ToolServerId) => agent(removeToolServer, { serverId }),
    /** Approves the listed version of each tool. Tools that have changed since then are rejected. */
    agree: (serverId: ToolServerId, tools: readonly Choice[]) =>
      agent(changeExternalTool, {
        serverId,
        tools: tools.map(({ name, digest, enabled, ask }) => ({ name, digest, enabled, ask })),
      }),
  }
}
