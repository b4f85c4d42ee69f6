import type { IncomingMessage } from 'node:http'
import type { Exchange } from '#platform/http/exchange.ts'
import { credentialOf } from '#platform/http/requestCredential.ts'
import { type Page, type Params, requestPipeline } from '#platform/http/requestPipeline.ts'
import type { AppError } from '#shared/appError.ts'
import type { AnyCall, Caller, Endpoint, Place } from '../base/endpoint.ts'
import type { ServicePrincipals } from '../base/principals.ts'
import type { IdempotentAnswers } from '../idempotency/idempotentAnswers.ts'
import type { AnswerBudget } from './answerBudget.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import type { OwnHost } from './ownHost.ts'
import type { RateLimits } from './rateLimits.ts'
import type { RequestGuard } from './requestGuard.ts'

export type ServiceRequests = {
  endpoints: readonly Endpoint[]
  socketPaths: readonly string[]
  /** The terminal page and the documentation. */
  pages: readonly Page[]
  guard: RequestGuard
  authentication: Authentication
  principals: Pick<ServicePrincipals, 'lease'>
  idempotency: IdempotentAnswers
  limits: RateLimits
  answers: AnswerBudget
  addressOf: CallerAddress
  ownHost: OwnHost
  toFailure(failure: unknown, request: IncomingMessage): AppError
}

/** What the service adds to the way of every request: keys, limits, and answers that are kept for repetitions. */
export function serviceRequests(options: ServiceRequests): (exchange: Exchange) => Promise<void> {
  const { endpoints, socketPaths, pages, guard, principals, idempotency, answers, toFailure } = options
  return requestPipeline<Endpoint, Caller | undefined, AnyCall>({
    endpoints,
    socketPaths,
    pages,
    guard: ({ headers }) => guard(headers),
    who(endpoint, exchange, params) {
      const caller = callerOf(endpoint, { request: exchange.request, params }, options)
      if (caller) exchange.logFields = { account: caller.accountId }
      return caller
    },
    lease(caller, { work = 'request' }, exchange) {
      if (!caller) return undefined
      const lease = principals.lease(caller.principal, work, { onEnd: exchange.abort })
      if (lease.error) throw lease.error
      return lease
    },
    callOf: (caller, call, { request }) => Object.assign(call, { caller, ...placeOf(request, caller, options) }),
    once: async (caller, request, work) =>
      caller
        ? idempotency.once({ ...request, accountId: caller.accountId }, work)
        : { ...(await work()), replayed: false },
    room: {
      require: (caller) => caller && answers.requireRoom(caller.accountId),
      reserve: (caller, bytes) => (caller ? answers.reserve(caller.accountId, bytes) : () => {}),
    },
    toFailure,
  })
}

type Asked = { request: IncomingMessage; params: Params }

/** @returns undefined where nobody needs to be known */
function callerOf(
  { route, access }: Endpoint,
  { request, params }: Asked,
  { authentication, addressOf, limits }: ServiceRequests,
): Caller | undefined {
  const address = addressOf(request)
  if (access.kind === 'open') {
    if (access.signIn) limits.signIn(address)
    else limits.unknown(address)
    return undefined
  }
  const caller = authentication.identify(credentialOf(request.headers), address)
  authorize(caller, { auth: route.auth, linkMayUse: access.linkMayUse, id: params.id })
  return caller
}

function placeOf(request: IncomingMessage, caller: Caller | undefined, options: ServiceRequests): Place {
  const { authentication, limits, addressOf, ownHost } = options
  const holder = () => caller ?? authentication.holder(credentialOf(request.headers))
  return {
    host: ownHost(request),
    holder,
    count: (what) => limits.count(what, { address: addressOf(request), caller: holder() }),
  }
}
