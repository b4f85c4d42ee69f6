import type { IncomingMessage } from 'node:http'
import type { Exchange } from '#platform/http/exchange.ts'
import { readCredential } from '#platform/http/requestCredential.ts'
import { createRequestPipeline, type Page, type Params } from '#platform/http/requestPipeline.ts'
import type { AppError } from '#shared/appError.ts'
import type { AnyCall, Caller, Endpoint, RequestContext } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { IdempotentResponses } from '../idempotency/idempotentResponses.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import type { HostHeaderReader } from './hostHeaderReader.ts'
import type { RateLimits } from './rateLimits.ts'
import type { RequestGuard } from './requestGuard.ts'
import type { ResponseBudget } from './responseBudget.ts'

export type ServiceRequests = {
  endpoints: readonly Endpoint[]
  socketPaths: readonly string[]
  /** Terminal page and documentation. */
  pages: readonly Page[]
  guard: RequestGuard
  authentication: Authentication
  principals: Pick<ServicePrincipals, 'lease'>
  idempotency: IdempotentResponses
  limits: RateLimits
  answers: ResponseBudget
  addressOf: CallerAddress
  ownHost: HostHeaderReader
  toFailure(error: unknown, request: IncomingMessage): AppError
}

/** Handles authentication, limits and idempotency of every request. */
export function createServiceRequests(options: ServiceRequests): (exchange: Exchange) => Promise<void> {
  const { endpoints, socketPaths, pages, guard, principals, idempotency, answers, toFailure } = options
  return createRequestPipeline<Endpoint, Caller | undefined, AnyCall>({
    endpoints,
    socketPaths,
    pages,
    guard: ({ headers }) => guard(headers),
    authenticate(endpoint, exchange, params) {
      const caller = identifyCaller(endpoint, { request: exchange.request, params }, options)
      if (caller) exchange.logFields = { account: caller.accountId }
      return caller
    },
    lease(caller, { work = 'request' }, exchange) {
      if (!caller) return undefined
      const lease = principals.lease(caller.principal, work, { onEnd: exchange.abort })
      if (lease.error) throw lease.error
      return lease
    },
    createCall: (caller, call, { request }) =>
      Object.assign(call, { caller, ...createContext(request, caller, options) }),
    once: async (caller, request, work) =>
      caller
        ? idempotency.once({ ...request, accountId: caller.accountId }, work)
        : { ...(await work()), replayed: false },
    responseBudget: {
      require: (caller) => caller && answers.assertCapacity(caller.accountId),
      reserve: (caller, bytes) => (caller ? answers.reserve(caller.accountId, bytes) : () => {}),
    },
    toFailure,
  })
}

type AuthenticationInput = { request: IncomingMessage; params: Params }

/** @returns undefined if the endpoint needs no caller */
function identifyCaller(
  { route, access }: Endpoint,
  { request, params }: AuthenticationInput,
  { authentication, addressOf, limits }: ServiceRequests,
): Caller | undefined {
  const address = addressOf(request)
  if (access.kind === 'open') {
    if (access.signIn) limits.signIn(address)
    else limits.checkUnauthenticated(address)
    return undefined
  }
  const caller = authentication.identify(readCredential(request.headers), address)
  authorize(caller, { auth: route.auth, linkMayUse: access.linkMayUse, id: params.id })
  return caller
}

function createContext(request: IncomingMessage, caller: Caller | undefined, options: ServiceRequests): RequestContext {
  const { authentication, limits, addressOf, ownHost } = options
  const holder = () => caller ?? authentication.holder(readCredential(request.headers))
  return {
    host: ownHost(request),
    holder,
    count: (quota) => limits.count(quota, { address: addressOf(request), caller: holder() }),
  }
}
