import { createHttpServer, type HttpServer } from '#platform/http/httpServer.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import type { Endpoint } from '../base/endpoint.ts'
import { createDocsPages } from '../docs/docsPages.ts'
import { createAuthentication } from '../http/authentication.ts'
import { type CallerAddress, createClientAddress } from '../http/callerAddress.ts'
import { readCertificateNames } from '../http/certificateNames.ts'
import { createFailureLimiter, type FailureLimiter } from '../http/failureLimiter.ts'
import { createHealthRoutes } from '../http/healthRoutes.ts'
import { createHostHeaderReader } from '../http/hostHeaderReader.ts'
import { createPrivateEndpoint, type PrivateEndpoint } from '../http/privateEndpoint.ts'
import { createRateLimits } from '../http/rateLimits.ts'
import { createRequestGuard } from '../http/requestGuard.ts'
import { createResponseBudget, defaultAnswerLimits } from '../http/responseBudget.ts'
import { securityHeaders, transportSecurityHeader } from '../http/securityHeaders.ts'
import { createServiceRequests } from '../http/serviceRequests.ts'
import { createWebSockets } from '../http/webSockets.ts'
import { createIdempotentAnswers } from '../idempotency/idempotentResponses.ts'
import { createPreviewAccess } from '../portProxy/previewAccess.ts'
import { createPreviewCookies } from '../portProxy/previewCookies.ts'
import { createPreviews, type Previews } from '../portProxy/previews.ts'
import { createTerminalPages } from '../terminals/terminalPage.ts'
import type { CreditModule } from './composeCredits.ts'
import type { DomainModule } from './composeDomains.ts'
import type { IdentityModule } from './composeIdentity.ts'
import type { InferenceModule } from './composeInference.ts'
import type { PaymentModule } from './composePayments.ts'
import type { SandboxModule } from './composeSandboxes.ts'
import type { ServiceContext } from './serviceContext.ts'

export type HttpModule = {
  /** HTTP server that does not listen yet. */
  server: HttpServer
  /** Private endpoint that is not open yet. */
  end: PrivateEndpoint
  scheme: 'http' | 'https'
  checkPorts(): Promise<void>
}

type HttpOptions = {
  /** Whether other computers can reach the service. */
  beyondLoopback: boolean
  identity: IdentityModule
  sandboxes: SandboxModule
  credits: CreditModule
  inference: InferenceModule
  payments: PaymentModule
  domains: DomainModule
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

/** Composes the HTTP server: API, WebSockets and addresses of exposed ports. */
export function composeHttp(context: ServiceContext, modules: HttpOptions): HttpModule {
  const { beyondLoopback, identity, sandboxes } = modules
  const { options, store, releaseSpace, clock, events, address, principals, scope } = context
  const { log, tls } = options
  const { linkHolder } = sandboxes
  const { names } = sandboxes.ports
  const { host: listenHost } = options.listen
  const behindProxy = options.insecureBehindProxy ?? false
  const scheme = tls ? 'https' : 'http'
  const closing = new AbortController()
  const guard = createRequestGuard({
    ...{ beyondLoopback, listenHost, publicUrl: address.publicUrl, scheme },
    certificateNames: tls ? readCertificateNames(tls.cert) : [],
  })
  const limiter = createFailureLimiter(clock.runningMs)
  const end = createPrivateEndpoint(options.privateSocketPath, scheme)
  const addressOf = createClientAddress({ behindProxy, end })
  const limits = createRateLimits({ ...defaultRateLimits, ...options.rateLimits }, clock.runningMs)
  const finders = [identity.findHolder, linkHolder]
  const authenticate = createAuthentication({ finders, limiter, admit: limits.checkAuthenticated })
  const isPreview = async (host: string | undefined) => (await names.findLabel(host)) !== undefined

  const server: HttpServer = scope.own(
    createHttpServer({
      tls,
      headers: { ...securityHeaders, ...(tls && transportSecurityHeader) },
      closing: closing.signal,
      answer: async (exchange) =>
        (await isPreview(exchange.request.headers.host)) ? pages.answer(exchange) : requests(exchange),
      upgrade: async (upgrade) =>
        (await isPreview(upgrade.request.headers.host)) ? pages.upgrade(upgrade) : peers.open(upgrade),
      log: log.forArea('http'),
      ...(!behindProxy && { maxConnectionsPerAddress }),
    }),
    (it) => it.close(closeDeadlineMs),
  )
  const sockets = [sandboxes.terminals, events.endpoint]
  const peers = scope.own(
    createWebSockets({
      endpoints: sockets,
      guard,
      authentication: authenticate,
      addressOf,
      linkHolder,
      principals,
      log: log.forArea('sockets'),
    }),
    (it) => it.close(),
  )
  const requests = createServiceRequests({
    endpoints: listEndpoints(options, modules),
    socketPaths: sockets.map(({ path }) => path),
    pages: [
      ...createDocsPages({ routes: routeTable, version: options.version }),
      ...createTerminalPages(options.pagesFolder),
    ],
    guard,
    authentication: authenticate,
    principals,
    limits,
    answers: createResponseBudget({ ...defaultAnswerLimits, ...options.answerLimits }),
    addressOf,
    ownHost: createHostHeaderReader({ listenHost, scheme, end, ownUrl: address.getOwnUrl }),
    idempotency: createIdempotentAnswers({
      store,
      now: clock.steadyMs,
      passedMs: clock.passedMs,
      onTrimmed: releaseSpace,
    }),
    toFailure: server.toFailure,
  })
  const pages = composePreviews(context, modules, { limiter, addressOf, toFailure: server.toFailure })
  scope.own(closing, (it) => it.abort())
  return {
    server,
    end,
    scheme,
    checkPorts: pages.checkPorts,
  }
}

function listEndpoints(
  { version, now }: ServiceContext['options'],
  { identity, credits, payments, inference, domains, sandboxes }: HttpOptions,
): Endpoint[] {
  return [
    ...createHealthRoutes({
      ...{ version, now, isHostAway: sandboxes.isHostAway },
      capabilities: [
        ...[identity, credits, payments, inference, domains, sandboxes].flatMap((part) => part.capabilities),
        ...['activity', 'events', 'idempotency'],
      ],
    }),
    ...identity.endpoints,
    ...credits.endpoints,
    ...payments.endpoints,
    ...inference.endpoints,
    ...domains.endpoints,
    ...sandboxes.endpoints,
  ]
}

/** Composes the previews of exposed ports, which have separate host names. */
function composePreviews(
  { options, principals, scope }: ServiceContext,
  { identity, sandboxes: { sandboxes, ports, connect } }: HttpOptions,
  dependencies: { limiter: FailureLimiter; addressOf: CallerAddress; toFailure: HttpServer['toFailure'] },
): Previews {
  const { limiter, addressOf, toFailure } = dependencies
  const scheme = options.tls ? 'https' : 'http'
  const behindProxy = options.insecureBehindProxy ?? false
  const cookies = createPreviewCookies({ scheme, behindProxy })
  const access = createPreviewAccess({
    cookies,
    keyHolder: identity.findHolder,
    tokens: ports.tokens,
    frames: ports.frames,
    findAccount: sandboxes.findAccount,
    limiter,
    addressOf,
  })
  return scope.own(
    createPreviews({
      cookies,
      names: ports.names,
      ports: ports.ports,
      frames: ports.frames,
      sandbox: sandboxes.find,
      access,
      principals,
      connect,
      scheme,
      behindProxy,
      toFailure,
    }),
    (it) => it.close(),
  )
}
