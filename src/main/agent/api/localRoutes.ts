import type { IncomingMessage } from 'node:http'
import type { Exchange } from '#platform/http/exchange.ts'
import { createRequestPipeline } from '#platform/http/requestPipeline.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import { getLocalDocument, getLocalStatus, localEventsPath, openSession } from '#shared/contract/localApi.ts'
import { toOriginator } from '#shared/contract/originator.ts'
import type { Output, Route } from '#shared/contract/route.ts'
import { type AgentPrincipals, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import { createLocalEndpoint, type LocalCall, type LocalEndpoint } from '../base/localEndpoint.ts'
import { createTaskId, type TaskContext } from '../base/taskContext.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import type { SessionCookie } from './cookies.ts'
import { createLocalOpenApi } from './localOpenApi.ts'
import type { UserSessions } from './userSessions.ts'

/** Status fields that are constant while the process runs. */
export type LocalStatus = Omit<Output<typeof getLocalStatus>, 'connection'>

export type LocalRoutesOptions = {
  sessions: UserSessions
  cookie: SessionCookie
  link: ServiceLink
  status: LocalStatus
  endpoints: readonly LocalEndpoint[]
  /** Returns the caller of an API key that belongs to the agent's account, or undefined for any other caller. */
  identifyClient: (request: IncomingMessage) => Promise<Requester | undefined>
  /**
   * Checks whether requests from this host and origin are accepted at all.
   * @throws AppError `auth/host`, `auth/origin`
   */
  guard(request: IncomingMessage): void
  /** Returns whether a request comes from the user's session, and strips the proof from the request. */
  takeProof(request: IncomingMessage): boolean
  toFailure(toError: unknown, request: IncomingMessage): AppError
  /** Groups the actions of one request as a task. Defaults to none. */
  tasks?: Pick<TaskContext, 'run'> | undefined
  principals?: Pick<AgentPrincipals, 'lease'> | undefined
}

const person: Requester = { kind: 'person', id: 'person', name: 'You' }
/** Requester of endpoints without authentication. */
const anonymous: Requester = { kind: 'client', id: 'nobody', name: 'Nobody' }

/**
 * Creates the handler of the agent's operations. Opening a session requires only a token; all other operations
 * authenticate the caller.
 */
export function createLocalRoutes(options: LocalRoutesOptions): (exchange: Exchange) => Promise<void> {
  const { sessions, cookie, link, status, guard, takeProof, toFailure } = options
  const endpoints: readonly LocalEndpoint[] = [
    createLocalEndpoint(openSession, ({ body }, { setHeader }) => {
      const opened = sessions.exchange(body.token)
      if (!opened) {
        throw new AppError('auth/session', 'This address was already used, or Steward was restarted since.')
      }
      setHeader('set-cookie', cookie.header(opened.secret))
      return { success: true, window_key: opened.windowKey }
    }),
    createLocalEndpoint(getLocalDocument, () => document()),
    createLocalEndpoint(getLocalStatus, () => ({ ...status, connection: link.status() })),
    ...options.endpoints
      .map((endpoint) => (options.tasks ? wrapWithTask(endpoint, options.tasks) : endpoint))
      .map((endpoint) => (options.principals ? wrapWithLease(endpoint, options.principals) : endpoint)),
  ]
  const document = createLocalOpenApi({
    routes: endpoints.map(({ route }) => route),
    version: status.version,
    cookieName: cookie.name,
  })

  const findRequester = async ({ auth }: Route, request: IncomingMessage): Promise<Requester> => {
    const isPerson = takeProof(request)
    if (auth === 'none') return anonymous
    // A key in the request takes precedence over the browser session.
    const requester = hasApiKey(request) ? await options.identifyClient(request) : isPerson ? person : undefined
    if (requester && (auth === 'client' || requester.kind === 'person')) return requester
    if (requester) throw new AppError('auth/forbidden', 'Only the Steward window on this computer can do this.')
    throw createNoSessionError()
  }

  return createRequestPipeline<LocalEndpoint, Requester, LocalCall>({
    endpoints,
    socketPaths: [localEventsPath],
    pages: [],
    documentPath: getLocalDocument.path,
    guard,
    authenticate: ({ route }, { request }) => findRequester(route, request),
    // The guard accepts only host names of this address.
    createCall: (requester, call, { request }) =>
      Object.assign(call, { requester, origin: `http://${request.headers.host?.toLowerCase()}` }),
    toFailure,
  })
}

/** Runs a request as a task, except for reads. */
function wrapWithTask(endpoint: LocalEndpoint, tasks: Pick<TaskContext, 'run'>): LocalEndpoint {
  const { route, handle } = endpoint
  if (route.method === 'GET') return endpoint
  return {
    ...endpoint,
    handle(input, call, settlement) {
      const id = createTaskId(call.requester.kind === 'person' ? 'action' : 'call')
      return tasks.run({ id, links: {}, originator: toOriginator(call.requester, id) }, () =>
        handle(input, call, settlement),
      )
    },
  }
}

/**
 * Ends a program's request when its access ends. Long polls return immediately, and a revoked key receives no response,
 * which might contain a signature.
 */
function wrapWithLease(endpoint: LocalEndpoint, principals: Pick<AgentPrincipals, 'lease'>): LocalEndpoint {
  const { route, handle } = endpoint
  if (route.auth !== 'client') return endpoint
  return {
    ...endpoint,
    async handle(input, call, settlement) {
      if (call.requester.kind === 'person') return handle(input, call, settlement)
      const lease = principals.lease(toRequesterPrincipal(call.requester), 'local-request')
      try {
        lease.may()
        const signal = AbortSignal.any([call.signal, lease.signal])
        const answer = await handle(input, bindCall(call, signal), settlement)
        lease.may()
        return answer
      } catch (error) {
        throw lease.signal.aborted ? lease.signal.reason : error
      } finally {
        lease.release()
      }
    },
  }
}

function bindCall(call: LocalCall, signal: AbortSignal): LocalCall {
  return {
    ...{ requester: call.requester, origin: call.origin, body: call.body, repeatable: call.repeatable, signal },
    setHeader: (name, value) => call.setHeader(name, value),
  }
}

export function createNoSessionError(): AppError {
  return new AppError('auth/session', 'Open Steward with the address that it printed at startup.')
}

function hasApiKey({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
