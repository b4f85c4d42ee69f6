import { type HttpServer, httpServer } from '#platform/http/httpServer.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { docsPages } from '../docs/docsPages.ts'
import { createAnswerBudget, defaultAnswerLimits } from '../http/answerBudget.ts'
import { authentication } from '../http/authentication.ts'
import { callerAddress } from '../http/callerAddress.ts'
import { certificateNames } from '../http/certificateNames.ts'
import { failureLimiter } from '../http/failureLimiter.ts'
import { healthRoutes } from '../http/healthRoutes.ts'
import { ownHost } from '../http/ownHost.ts'
import { previewAccess } from '../http/previewAccess.ts'
import { createPreviewCookies } from '../http/previewCookies.ts'
import { type Previews, previews } from '../http/previews.ts'
import { type PrivateEnd, privateEnd } from '../http/privateEnd.ts'
import { rateLimits } from '../http/rateLimits.ts'
import { requestGuard } from '../http/requestGuard.ts'
import { securityHeaders, transportSecurityHeader } from '../http/securityHeaders.ts'
import { serviceRequests } from '../http/serviceRequests.ts'
import { terminalPages } from '../http/terminalPage.ts'
import { webSockets } from '../http/webSockets.ts'
import { answerRepository } from '../idempotency/answerRepository.ts'
import { idempotentAnswers } from '../idempotency/idempotentAnswers.ts'
import type { CreditParts } from './creditParts.ts'
import type { DomainParts } from './domainParts.ts'
import type { IdentityParts } from './identityParts.ts'
import type { InferenceParts } from './inferenceParts.ts'
import type { PaymentParts } from './paymentParts.ts'
import type { SandboxParts } from './sandboxParts.ts'
import type { ServiceGround } from './serviceGround.ts'

export type HttpParts = {
  /** Does not listen yet. */
  server: HttpServer
  /** Not open yet. */
  end: PrivateEnd
  scheme: 'http' | 'https'
  /** Cuts off the previews of ports, names and sandboxes that have changed. */
  checkPorts(): void
}

type Given = {
  /** Whether other machines can reach the service. */
  beyondLoopback: boolean
  identity: IdentityParts
  machines: SandboxParts
  money: CreditParts
  models: InferenceParts
  payments: PaymentParts
  names: DomainParts
}

const defaultRateLimits = {
  perKey: 6_000,
  perAddress: 12_000,
  signInsPerAddress: 300,
  newAutomatonsPerDay: 1_000,
  noncesPerDay: 20_000,
  newAccountsPerDay: 1_000,
} as const
const closeDeadlineMs = 10_000

/** Allows for households and offices that share an address or an IPv6 /64. A browser opens six connections per host. */
const maxConnectionsPerAddress = 256

/** The server before all of it: the interface, its WebSockets, and the addresses of exposed ports. */
export function httpParts(
  ground: ServiceGround,
  { beyondLoopback, identity, machines, money, models, payments, names: domains }: Given,
): HttpParts {
  const { options, database, clock, events, address, principals, scope } = ground
  const { log, now, tls } = options
  const { sandboxes, ports, linkHolder } = machines
  const { names } = ports
  const { host: listenHost } = options.listen
  const behindProxy = options.insecureBehindProxy ?? false
  const scheme = tls ? 'https' : 'http'
  const closing = new AbortController()
  const guard = requestGuard({
    ...{ beyondLoopback, listenHost, publicUrl: address.publicUrl, scheme },
    certificateNames: tls ? certificateNames(tls.cert) : [],
  })
  const limiter = failureLimiter(clock.runningMs)
  const end = privateEnd(options.privateSocketPath, scheme)
  const addressOf = callerAddress({ behindProxy, end })
  const limits = rateLimits({ ...defaultRateLimits, ...options.rateLimits }, clock.runningMs)
  const finders = [identity.holderOf, linkHolder]
  const known = authentication({ finders, limiter, admit: limits.known })
  const isPreview = (host: string | undefined) => names.labelOf(host) !== undefined

  const server: HttpServer = scope.own(
    httpServer({
      tls,
      headers: { ...securityHeaders, ...(tls && transportSecurityHeader) },
      closing: closing.signal,
      answer: (exchange) => (isPreview(exchange.request.headers.host) ? pages.answer(exchange) : requests(exchange)),
      upgrade: (upgrade) => (isPreview(upgrade.request.headers.host) ? pages.upgrade(upgrade) : peers.open(upgrade)),
      log: log.of('http'),
      ...(!behindProxy && { maxConnectionsPerAddress }),
    }),
    (it) => it.close(closeDeadlineMs),
  )
  const sockets = [machines.terminals, events.endpoint]
  const peers = scope.own(
    webSockets({
      endpoints: sockets,
      guard,
      authentication: known,
      addressOf,
      linkHolder,
      principals,
      log: log.of('sockets'),
    }),
    (it) => it.close(),
  )
  const requests = serviceRequests({
    endpoints: [
      ...healthRoutes({
        ...{ version: options.version, now, isHostAway: machines.isHostAway },
        capabilities: [
          ...[identity, money, payments, models, domains, machines].flatMap((part) => part.capabilities),
          ...['activity', 'events', 'idempotency'],
        ],
      }),
      ...identity.endpoints,
      ...money.endpoints,
      ...payments.endpoints,
      ...models.endpoints,
      ...domains.endpoints,
      ...machines.endpoints,
    ],
    socketPaths: sockets.map(({ path }) => path),
    pages: [...docsPages({ routes: routeTable, version: options.version }), ...terminalPages(options.pagesFolder)],
    guard,
    authentication: known,
    principals,
    limits,
    answers: createAnswerBudget({ ...defaultAnswerLimits, ...options.answerLimits }),
    addressOf,
    ownHost: ownHost({ listenHost, scheme, end, ownUrl: address.own }),
    idempotency: idempotentAnswers({
      answers: answerRepository(database),
      now: clock.steadyMs,
      passedMs: clock.passedMs,
    }),
    toFailure: server.toFailure,
  })
  const cookies = createPreviewCookies({ scheme, behindProxy })
  const access = previewAccess({
    cookies,
    keyHolder: identity.holderOf,
    tokens: ports.tokens,
    frames: ports.frames,
    accountOf: sandboxes.accountOf,
    limiter,
    addressOf,
  })
  const pages: Previews = scope.own(
    previews({
      cookies,
      names,
      ports: ports.ports,
      frames: ports.frames,
      sandbox: sandboxes.find,
      access,
      principals,
      connect: machines.connect,
      scheme,
      behindProxy,
      toFailure: server.toFailure,
    }),
    (it) => it.close(),
  )
  scope.own(closing, (it) => it.abort())
  return {
    server,
    end,
    scheme,
    checkPorts: pages.checkPorts,
  }
}
