import { createPortToken, exposePort, listPorts, removePort } from '#shared/contract/ports.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Query } from '#storage/store.ts'
import { createEndpoint, type Endpoint } from '../base/endpoint.ts'
import type { SandboxRegistry } from '../sandboxes/sandboxRegistry.ts'
import type { ExposedPorts } from './exposedPorts.ts'
import { type FrameSessions, frameTokenSeconds } from './frameSessions.ts'
import type { PortNames } from './portNames.ts'
import { type PortTokens, portTokenSeconds } from './portTokens.ts'

export function createPortRoutes(options: {
  sandboxes: Pick<SandboxRegistry, 'requireOwned'>
  read: Query
  ports: ExposedPorts
  tokens: PortTokens
  frames: Pick<FrameSessions, 'createToken'>
  urlOf: PortNames['getUrl']
  /** Path that exchanges a port token for a cookie. */
  openPath: string
}): Endpoint[] {
  const { sandboxes, ports, tokens, frames } = options
  return [
    createEndpoint(exposePort, async ({ params, body }, { caller }) =>
      ports.expose((await sandboxes.requireOwned(caller, params.id)).id, body),
    ),
    createEndpoint(listPorts, async ({ params }, { caller }) => ({
      ports: await ports.list((await sandboxes.requireOwned(caller, params.id)).id),
    })),
    createEndpoint(removePort, async ({ params }, { caller }) => {
      await ports.remove((await sandboxes.requireOwned(caller, params.id)).id, params.port)
      return { success: true, message: `Port ${params.port} is no longer exposed.` }
    }),
    createEndpoint(createPortToken, async ({ params, query: { frame_origin: origin } }, { caller }) => {
      const { id } = await sandboxes.requireOwned(caller, params.id)
      const record = await ports.get(options.read, id, params.port)
      const { principal } = caller
      const { token, expiresAtMs } =
        origin === undefined ? await tokens.create(record, principal) : frames.createToken(record, origin, principal)
      return {
        token,
        open_url: `${options.urlOf(record)}${options.openPath}#token=${token}`,
        expires_at: toIsoTime(expiresAtMs),
        expires_in_seconds: origin === undefined ? portTokenSeconds : frameTokenSeconds,
        sandbox_id: id,
        port: record.port,
      }
    }),
  ]
}
