import type { IncomingMessage } from 'node:http'
import type { WorkLease } from '#platform/access/principals.ts'
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
  principals: Pick<ServicePrincipals, 'lease' | 'revision'>
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
  return createRequestPipeline<Endpoint, Identified | undefined, AnyCall>({
    endpoints,
    socketPaths,
    pages,
    guard: ({ headers }) => guard(headers),
    async authenticate(endpoint, exchange, params) {
      const revision = principals.revision()
      const caller = await identifyCaller(endpoint, { request: exchange.request, params }, options)
      if (!caller) return undefined
      exchange.logFields = { account: caller.accountId }
      return { caller, revision }
    },
    lease(identified, { work = 'request' }, exchange) {
      if (!identified) return undefined
      const { caller, revision } = identified
      return requireLease(principals.lease(caller.principal, work, { onEnd: exchange.abort, revision }))
    },
    createCall: (identified, call, { request }) =>
      Object.assign(call, { caller: identified?.caller, ...createContext(request, identified?.caller, options) }),
    once: async (identified, request, work) =>
      identified
        ? idempotency.once({ ...request, accountId: identified.caller.accountId }, work)
        : { ...(await work()), replayed: false },
    responseBudget: {
      require: (identified) => identified && answers.assertCapacity(identified.caller.accountId),
      reserve: (identified, bytes) => (identified ? answers.reserve(identified.caller.accountId, bytes) : () => {}),
    },
    toFailure,
  })
}

/** @property revision revision of the principals before the caller was looked up */
type Identified = { caller: Caller; revision: number }

async function requireLease(pending: Promise<WorkLease>): Promise<WorkLease> {
  const lease = await pending
  if (lease.error) throw lease.error
  return lease
}

type AuthenticationInput = { request: IncomingMessage; params: Params }

/** @returns undefined if the endpoint needs no caller */
async function identifyCaller(
  { route, access }: Endpoint,
  { request, params }: AuthenticationInput,
  { authentication, addressOf, limits }: ServiceRequests,
): Promise<Caller | undefined> {
  const address = addressOf(request)
  if (access.kind === 'open') {
    if (access.signIn) limits.signIn(address)
    else limits.checkUnauthenticated(address)
    return undefined
  }
  const caller = await authentication.identify(readCredential(request.headers), address)
  authorize(caller, { auth: route.auth, linkMayUse: access.linkMayUse, id: params.id })
  return caller
}

function createContext(request: IncomingMessage, caller: Caller | undefined, options: ServiceRequests): RequestContext {
  const { authentication, limits, addressOf, ownHost } = options
  const holder = async () => caller ?? (await authentication.holder(readCredential(request.headers)))
  return {
    host: ownHost(request),
    holder,
    async openQuota(quota) {
      const requester = { address: addressOf(request), caller: await holder() }
      return () => limits.count(quota, requester)
    },
  }
}
