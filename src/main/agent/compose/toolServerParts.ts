import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { KeptKeys } from '../providers/keptKeys.ts'
import { httpServer } from '../toolServers/httpServer.ts'
import { sandboxTransport } from '../toolServers/sandboxTransport.ts'
import { type ServedClient, servedClient, usualDeadlines } from '../toolServers/servedClient.ts'
import { servedListing } from '../toolServers/servedListing.ts'
import { type ServedTools, servedTools } from '../toolServers/servedTools.ts'
import { serverConnections } from '../toolServers/serverConnections.ts'
import { secretSlot } from '../toolServers/serverSecrets.ts'
import { type StoredServer, toolServerRepository } from '../toolServers/toolServerRepository.ts'
import { toolServerRoutes } from '../toolServers/toolServerRoutes.ts'
import { type ToolServers, toolServers } from '../toolServers/toolServers.ts'
import type { AgentGround } from './agentGround.ts'

export type ToolServerParts = { servers: ToolServers; served: ServedTools; endpoints: LocalEndpoint[] }

/** MCP servers of others, whose tools chats may use. */
export function toolServerParts(ground: AgentGround, { kept }: { kept: KeptKeys }): ToolServerParts {
  const { database, client, events, activity, removedThings, unrecordedTerminals, scope, now, clock } = ground
  const { note } = activity
  const repository = toolServerRepository(database)

  const secretsOf = ({ id, name, secrets }: StoredServer): Record<string, string> =>
    Object.fromEntries(
      secrets.map((it) => {
        const value = kept.held(secretSlot(id, it))
        if (value !== undefined) return [it, value]
        throw new AppError('tool-server/failed', `${it} of “${name}” has no value yet.`)
      }),
    )
  const connect = async (id: string, signal: AbortSignal): Promise<ServedClient> => {
    const server = repository.find(id)
    if (!server) throw new AppError('tool-server/not-found', `There is no tool server ${id}.`)
    const secrets = secretsOf(server)
    const { place, name } = server
    if (place.kind === 'http') return httpServer({ url: place.url, secrets, deadlines: usualDeadlines, signal })
    let fault: string | undefined
    const transport = sandboxTransport({
      ...{
        client: { call: unrecordedTerminals.callOf(client.call) },
        name,
        now: clock.runningMs,
        sandboxId: place.sandbox_id,
        command: place.command,
        environment: secrets,
      },
      onFault: (sentence) => {
        fault ??= sentence
      },
    })
    return servedClient({ transport, deadlines: usualDeadlines, fault: () => fault, signal })
  }
  const connections = scope.own(serverConnections({ connect, now: clock.runningMs }), (it) => it.close())
  const listing = servedListing({ repository, connections, events, note, now })
  const servers = toolServers({
    ...{ repository, listing, kept, events, note },
    end: connections.end,
    newId: () => randomBytes(12).toString('hex'),
  })
  scope.own(
    removedThings.subscribe({ kind: 'sandbox', referred: servers.sandboxIds, onRemoved: servers.closeOf }),
    (unsubscribe) => unsubscribe(),
  )
  return { servers, served: servedTools({ repository, listing }), endpoints: toolServerRoutes(servers) }
}
