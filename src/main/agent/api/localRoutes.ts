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
import { createLocalDocument } from './localDocument.ts'
import type { PersonSessions } from './personSessions.ts'

/** Status fields that are constant while the process runs. */
export type LocalStatus = Omit<Output<typeof getLocalStatus>, 'connection'>

export type LocalRoutesOptions = {
  sessions: PersonSessions
  cookie: SessionCookie
  link: ServiceLink
  status: LocalStatus
  /** Endpoints of the agent's features. */
  endpoints: readonly LocalEndpoint[]
  /** The holder of an API key that this agent's own account has; undefined for anybody else. */
  identifyClient: (request: IncomingMessage) => Promise<Requester | undefined>
  /** Whether anybody at all may ask from there. @throws AppError `auth/host`, `auth/origin` */
  guard(request: IncomingMessage): void
  /** Whether a request is the person's; what showed that is taken off it. */
  takeProof(request: IncomingMessage): boolean
  toFailure(toError: unknown, request: IncomingMessage): AppError
  /** Groups the actions of one request as a task. Default: none. */
  tasks?: Pick<TaskContext, 'run'> | undefined
  principals?: Pick<AgentPrincipals, 'lease'> | undefined
}

const person: Requester = { kind: 'person', id: 'person', name: 'You' }
/** Requester of endpoints without authentication. */
const anonymous: Requester = { kind: 'client', id: 'nobody', name: 'Nobody' }

/** The agent's own operations. A session is opened by anybody with a token; all else asks who calls. */
export function createLocalRoutes(options: LocalRoutesOptions): (exchange: Exchange) => Promise<void> {
  const { sessions, cookie, link, status, guard, takeProof, toFailure } = options
  const endpoints: readonly LocalEndpoint[] = [
    createLocalEndpoint(openSession, ({ body }, { setHeader }) => {
      const opened = sessions.exchange(body.token)
      if (!opened) {
        throw new AppError('auth/session', 'This address was used already, or belongs to an earlier start of Steward.')
      }
      setHeader('set-cookie', cookie.header(opened.secret))
      return { success: true, window_key: opened.windowKey }
    }),
    createLocalEndpoint(getLocalDocument, () => document()),
    createLocalEndpoint(getLocalStatus, () => ({ ...status, connection: link.status() })),
    ...options.endpoints
      .map((endpoint) => (options.tasks ? withTask(endpoint, options.tasks) : endpoint))
      .map((endpoint) => (options.principals ? withLease(endpoint, options.principals) : endpoint)),
  ]
  const document = createLocalDocument({
    routes: endpoints.map(({ route }) => route),
    version: status.version,
    cookieName: cookie.name,
  })

  const findRequester = async ({ auth }: Route, request: IncomingMessage): Promise<Requester> => {
    const isPerson = takeProof(request)
    if (auth === 'none') return anonymous
    // A request that brings a key acts with it, also in a browser with a session.
    const requester = hasApiKey(request) ? await options.identifyClient(request) : isPerson ? person : undefined
    if (requester && (auth === 'client' || requester.kind === 'person')) return requester
    if (requester) throw new AppError('auth/forbidden', 'Only the session of the person at this machine may do this.')
    throw createNoSessionError()
  }

  return createRequestPipeline<LocalEndpoint, Requester, LocalCall>({
    endpoints,
    socketPaths: [localEventsPath],
    pages: [],
    documentPath: getLocalDocument.path,
    guard,
    authenticate: ({ route }, { request }) => findRequester(route, request),
    // The guard has let through names of this very address alone.
    createCall: (requester, call, { request }) =>
      Object.assign(call, { requester, origin: `http://${request.headers.host?.toLowerCase()}` }),
    toFailure,
  })
}

/** Reading is none. */
function withTask(endpoint: LocalEndpoint, tasks: Pick<TaskContext, 'run'>): LocalEndpoint {
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
 * Ends a program's request with its access: long polls return immediately, and no response, which may contain a
 * signature, reaches a revoked key.
 */
function withLease(endpoint: LocalEndpoint, principals: Pick<AgentPrincipals, 'lease'>): LocalEndpoint {
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

/** Returns the call with another signal. */
function bindCall(call: LocalCall, signal: AbortSignal): LocalCall {
  return {
    ...{ requester: call.requester, origin: call.origin, body: call.body, repeatable: call.repeatable, signal },
    setHeader: (name, value) => call.setHeader(name, value),
  }
}

export function createNoSessionError(): AppError {
  return new AppError('auth/session', 'Open Steward with the address that it printed when it started.')
}

function hasApiKey({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}
