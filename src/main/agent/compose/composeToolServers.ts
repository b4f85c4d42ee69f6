import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { ProviderKeyStore } from '../providers/providerKeyStore.ts'
import { createExternalTools, type ExternalTools } from '../toolServers/externalTools.ts'
import { createHttpServer } from '../toolServers/httpServer.ts'
import { createMcpClient, defaultDeadlines, type McpConnection } from '../toolServers/mcpClient.ts'
import { createSandboxTransport } from '../toolServers/sandboxTransport.ts'
import { createServerConnections } from '../toolServers/serverConnections.ts'
import { toSecretSlot } from '../toolServers/serverSecrets.ts'
import { createToolCatalog } from '../toolServers/toolCatalog.ts'
import { createToolServerRepository, type StoredServer } from '../toolServers/toolServerRepository.ts'
import { createToolServerRoutes } from '../toolServers/toolServerRoutes.ts'
import { createToolServers, type ToolServers } from '../toolServers/toolServers.ts'
import type { AgentContext } from './agentContext.ts'

export type ToolServerModule = { servers: ToolServers; externalTools: ExternalTools; endpoints: LocalEndpoint[] }

export function composeToolServers(
  context: AgentContext,
  { keyStore }: { keyStore: ProviderKeyStore },
): ToolServerModule {
  const { database, client, events, activity, removedThings, unrecordedTerminals, scope, now, clock } = context
  const { record: recordActivity } = activity
  const repository = createToolServerRepository(database)

  const readSecrets = ({ id, name, secrets }: StoredServer): Record<string, string> =>
    Object.fromEntries(
      secrets.map((secret) => {
        const value = keyStore.findKey(toSecretSlot(id, secret))
        if (value !== undefined) return [secret, value]
        throw new AppError('tool-server/failed', `The secret ${secret} of “${name}” has no value yet.`)
      }),
    )
  const connect = async (id: string, signal: AbortSignal): Promise<McpConnection> => {
    const server = repository.find(id)
    if (!server) throw new AppError('tool-server/not-found', `There is no tool server ${id}.`)
    const secrets = readSecrets(server)
    const { transport: target, name } = server
    if (target.kind === 'http')
      return createHttpServer({ url: target.url, secrets, deadlines: defaultDeadlines, signal })
    let fault: string | undefined
    const transport = createSandboxTransport({
      ...{
        client: { call: unrecordedTerminals.wrapCall(client.call) },
        name,
        now: clock.runningMs,
        sandboxId: target.sandbox_id,
        command: target.command,
        environment: secrets,
      },
      onFault: (sentence) => {
        fault ??= sentence
      },
    })
    return createMcpClient({ transport, deadlines: defaultDeadlines, fault: () => fault, signal })
  }
  const connections = scope.own(createServerConnections({ connect, now: clock.runningMs }), (it) => it.close())
  const listing = createToolCatalog({ repository, connections, events, recordActivity, now })
  const servers = createToolServers({
    ...{ repository, listing, keyStore, events, recordActivity },
    end: connections.end,
    newId: () => randomBytes(12).toString('hex'),
  })
  scope.own(
    removedThings.subscribe({ kind: 'sandbox', referred: servers.sandboxIds, onRemoved: servers.disableForSandbox }),
    (unsubscribe) => unsubscribe(),
  )
  return {
    servers,
    externalTools: createExternalTools({ repository, listing }),
    endpoints: createToolServerRoutes(servers),
  }
}
