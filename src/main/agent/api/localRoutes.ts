import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../shared/appError.ts'
import type { Asker } from '../../../shared/contract/intents.ts'
import { getLocalDocument, getLocalStatus, localEventsPath, openSession } from '../../../shared/contract/localApi.ts'
import { parseFields, parseRequest } from '../../../shared/contract/parseRequest.ts'
import { matchPath } from '../../../shared/contract/pathPattern.ts'
import type { Output, Route } from '../../../shared/contract/route.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { bytesHeaders, sendJson } from './answers.ts'
import type { SessionCookie } from './cookies.ts'
import { readJson, readJsonText } from './jsonRequest.ts'
import { localDocument } from './localDocument.ts'
import { LocalBytes, type LocalCall, type LocalEndpoint, localEndpoint } from './localEndpoint.ts'
import type { PersonSessions } from './personSessions.ts'

/** What does not change while this Steward runs. */
export type LocalStatus = Omit<Output<typeof getLocalStatus>, 'connection'>

export type LocalRoutesOptions = {
  sessions: PersonSessions
  cookie: SessionCookie
  link: ServiceLink
  status: LocalStatus
  /** What the slices of the agent answer. */
  endpoints: readonly LocalEndpoint[]
  /** The holder of an API key that this agent's own account has; undefined for anybody else. */
  clientOf: (request: IncomingMessage) => Promise<Asker | undefined>
}
type At = { path: string; person: boolean }

const person: Asker = { kind: 'person', id: 'person', name: 'You' }

/** The agent's own operations. A session is opened by anybody with a token; all else asks who calls. */
export function localRoutes({ sessions, cookie, link, status, endpoints, clientOf }: LocalRoutesOptions) {
  const table: readonly LocalEndpoint[] = [
    localEndpoint(getLocalStatus, () => ({ ...status, connection: link.status() })),
    ...endpoints,
  ]
  const document = localDocument({
    routes: [openSession, getLocalDocument, ...table.map(({ route }) => route)],
    version: status.version,
    cookieName: cookie.name,
  })

  const open = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { token } = parseFields(openSession.body, await readJson(request, openSession.maxBodyBytes))
    const opened = sessions.exchange(token)
    if (!opened) {
      throw new AppError('auth/session', 'This address was used already, or belongs to an earlier start of Steward.')
    }
    const answer = { success: true, window_key: opened.windowKey } as const
    sendJson(response, openSession.status, answer, { 'set-cookie': cookie.header(opened.secret) })
  }

  const askerOf = async ({ auth }: Route, request: IncomingMessage, isPerson: boolean): Promise<Asker> => {
    // A request that brings a key acts with it, also in a browser with a session.
    const asker = bringsKey(request) ? await clientOf(request) : isPerson ? person : undefined
    if (asker && (auth === 'client' || asker.kind === 'person')) return asker
    if (asker) throw new AppError('auth/forbidden', 'Only the session of the person at this machine may do this.')
    throw noSession()
  }

  return {
    async answer(request: IncomingMessage, response: ServerResponse, { path, person }: At): Promise<void> {
      if (path === openSession.path) {
        allow(request, [openSession.method])
        return open(request, response)
      }
      if (path === getLocalDocument.path) {
        allow(request, [getLocalDocument.method])
        return sendJson(response, getLocalDocument.status, document())
      }
      if (path === localEventsPath) throw new AppError('request/upgrade', `${localEventsPath} is a WebSocket.`)
      const { endpoint, params } = found(table, request, path)
      const { route } = endpoint
      const asker = await askerOf(route, request, person)
      const query = Object.fromEntries(new URL(request.url ?? '/', 'http://localhost').searchParams)
      const sent = route.hasBody ? await readJsonText(request, route.maxBodyBytes) : undefined
      const input = parseRequest(route, { params, query, body: sent && (sent.value ?? {}) })
      // The guard has let through names of this very address alone.
      const origin = `http://${request.headers.host?.toLowerCase()}`
      const headers: Record<string, string> = {}
      const answer = await endpoint.handle(input, {
        asker,
        origin,
        repeatable: repeatableOf(route, request, { path, text: sent?.text ?? '' }),
        setHeader(name, value) {
          headers[name] = value
        },
        signal: goneSignal(response),
      })
      if (!(answer instanceof LocalBytes)) return sendJson(response, route.status, answer, headers)
      response.writeHead(route.status, { ...bytesHeaders, ...answer.headers })
      await pipeline(answer.pieces, response)
    },
    /** @throws AppError when this WebSocket may not be opened. */
    checkEvents(path: string, person: boolean): void {
      if (path !== localEventsPath) throw new AppError('request/not-found', `There is no WebSocket at ${path}.`)
      if (!person) throw noSession()
    },
  }
}

function repeatableOf(
  { idempotent, method }: Route,
  { headers }: IncomingMessage,
  { path, text }: { path: string; text: string },
): LocalCall['repeatable'] {
  const key = headers['idempotency-key']
  return idempotent && key !== undefined ? { key: String(key), method, path, body: Buffer.from(text) } : undefined
}

function found(table: readonly LocalEndpoint[], request: IncomingMessage, path: string) {
  const fitting = table.flatMap((endpoint) => {
    const params = matchPath(endpoint.route.path, path)
    return params === undefined ? [] : [{ endpoint, params }]
  })
  if (fitting.length === 0) throw unknownPath(path)
  allow(
    request,
    fitting.map(({ endpoint }) => endpoint.route.method),
  )
  const one = fitting.find(({ endpoint }) => endpoint.route.method === request.method)
  if (!one) throw new Error('A method was allowed that no endpoint has.')
  return { endpoint: one.endpoint, params: decoded(one.params, path) }
}

function decoded(params: Record<string, string>, path: string): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch (cause) {
    throw unknownPath(path, cause)
  }
}

function bringsKey({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined || headers['x-api-key'] !== undefined
}

function allow({ method }: IncomingMessage, allowed: readonly string[]): void {
  if (method !== undefined && allowed.includes(method)) return
  throw new AppError('request/method', `This path answers to ${allowed.join(', ')} only.`)
}

function noSession(): AppError {
  return new AppError('auth/session', 'Open Steward with the address that it printed when it started.')
}

function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

function unknownPath(path: string, cause?: unknown): AppError {
  return new AppError('request/not-found', `There is no ${path}.`, { cause })
}
