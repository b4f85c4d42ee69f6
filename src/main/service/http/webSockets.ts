import type { IncomingMessage } from 'node:http'
import { parse as parseQuery } from 'node:querystring'
import { pathAndQuery, type Upgrade } from '#platform/http/exchange.ts'
import { credentialOf } from '#platform/http/requestCredential.ts'
import { router } from '#platform/http/router.ts'
import { webSocketRoom } from '#platform/http/webSocketRoom.ts'
import type { Log } from '#platform/log.ts'
import { parseFields, parseParams } from '#shared/contract/parseRequest.ts'
import { terminalLimits } from '#shared/contract/terminals.ts'
import type { Caller, SocketEndpoint } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import { protocolToken } from './credentials.ts'
import type { RequestGuard } from './requestGuard.ts'

export type WebSockets = {
  /** @throws AppError when it may not be opened */
  open(upgrade: Upgrade): void
  /** Tells every peer that the service goes away, and cuts off who has not left after a moment. */
  close(): Promise<void>
}

type Options = {
  endpoints: readonly SocketEndpoint[]
  guard: RequestGuard
  authentication: Authentication
  addressOf: CallerAddress
  /** Knows the holder of a token that a page sent as a subprotocol. */
  linkHolder: (token: string) => Caller | undefined
  principals: Pick<ServicePrincipals, 'lease'>
  log: Log
}

/** An input of the largest size, with every byte escaped by JSON. */
const maxPayloadBytes = 6 * terminalLimits.maxInputBytes + 1024

/** Upgrades requests to WebSockets once their host, origin and credential were checked. */
export function webSockets(options: Options): WebSockets {
  const { guard, principals, log } = options
  const room = webSocketRoom({ maxPayloadBytes, log })
  const routes = router(options.endpoints.map((endpoint) => ({ method: 'GET', path: endpoint.path, to: endpoint })))
  return {
    open(upgrade) {
      const { request } = upgrade
      guard(request.headers)
      const { path, query } = pathAndQuery(request.url ?? '/')
      const { to: endpoint, params } = routes.find('GET', path)
      const caller = callerOf(endpoint, { request, id: params.id }, options)
      const input = {
        params: parseParams(endpoint.params, params),
        query: parseFields(endpoint.query, parseQuery(query)),
      }
      const { expiresAtMs } = caller
      const lease = principals.lease(caller.principal, endpoint.work, { expiresAtMs })
      if (lease.error) throw lease.error
      upgrade.stream.once('close', () => lease.release())
      room.open(upgrade, { serve: (socket) => endpoint.serve(socket, input, caller), ended: lease.signal })
    },
    close: room.close,
  }
}

type Asked = { request: IncomingMessage; id: string | undefined }

function callerOf(
  { linkMayUse }: SocketEndpoint,
  { request, id }: Asked,
  { authentication, linkHolder, addressOf }: Options,
): Caller {
  const token = protocolToken(request.headers)
  const holder = token === undefined ? undefined : linkHolder(token)
  const caller = holder ?? authentication.identify(credentialOf(request.headers) ?? token, addressOf(request))
  authorize(caller, { auth: 'key', linkMayUse, id })
  return caller
}
