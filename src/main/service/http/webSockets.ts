import type { IncomingMessage } from 'node:http'
import { parse as parseQuery } from 'node:querystring'
import { splitUrl, type Upgrade } from '#platform/http/exchange.ts'
import { readCredential } from '#platform/http/requestCredential.ts'
import { createRouter } from '#platform/http/router.ts'
import { createWebSocketManager } from '#platform/http/webSocketManager.ts'
import type { Log } from '#platform/logging/log.ts'
import { parseFields, parseParams } from '#shared/contract/parseRequest.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { Caller, SocketEndpoint } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import { findProtocolToken } from './credentials.ts'
import type { RequestGuard } from './requestGuard.ts'

export type WebSockets = {
  /** @throws AppError if the WebSocket may not be opened */
  open(upgrade: Upgrade): Promise<void>
  /**
   * Notifies every peer that the service is stopping, and terminates connections that are still open after a grace
   * period.
   */
  close(): Promise<void>
}

type Options = {
  endpoints: readonly SocketEndpoint[]
  guard: RequestGuard
  authentication: Authentication
  addressOf: CallerAddress
  /** Identifies the caller of a token that a page sent as a subprotocol. */
  linkHolder: (token: string) => Promise<Caller | undefined>
  principals: Pick<ServicePrincipals, 'lease' | 'revision'>
  log: Log
}

/** An input of maximum size with every byte escaped in JSON. */
const maxPayloadBytes = 6 * terminalLimits.maxInputBytes + 1024

/** Upgrades requests to WebSockets after checking host, origin and credential. */
export function createWebSockets(options: Options): WebSockets {
  const { guard, principals, log } = options
  const sockets = createWebSocketManager({ maxPayloadBytes, log })
  const routes = createRouter(
    options.endpoints.map((endpoint) => ({ method: 'GET', path: endpoint.path, to: endpoint })),
  )
  return {
    async open(upgrade) {
      const { request, stream } = upgrade
      guard(request.headers)
      const { path, query } = splitUrl(request.url ?? '/')
      const { to: endpoint, params } = routes.find('GET', path)
      const revision = principals.revision()
      const caller = await identifyCaller(endpoint, { request, id: params.id }, options)
      const input = {
        params: parseParams(endpoint.params, params),
        query: parseFields(endpoint.query, parseQuery(query)),
      }
      const { expiresAtMs } = caller
      const lease = await principals.lease(caller.principal, endpoint.work, { expiresAtMs, revision })
      if (lease.error) throw lease.error
      if (stream.destroyed) return lease.release() // the client disconnected during the lookup
      stream.once('close', () => lease.release())
      sockets.open(upgrade, { serve: (socket) => endpoint.serve(socket, input, caller), ended: lease.signal })
    },
    close: sockets.close,
  }
}

type AuthenticationInput = { request: IncomingMessage; id: string | undefined }

async function identifyCaller(
  { linkMayUse }: SocketEndpoint,
  { request, id }: AuthenticationInput,
  { authentication, linkHolder, addressOf }: Options,
): Promise<Caller> {
  const token = findProtocolToken(request.headers)
  const holder = token === undefined ? undefined : await linkHolder(token)
  const caller = holder ?? (await authentication.identify(readCredential(request.headers) ?? token, addressOf(request)))
  authorize(caller, { auth: 'key', linkMayUse, id })
  return caller
}
