import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { createBytesAnswer, sendBytes } from '#platform/http/answers.ts'
import { type Exchange, splitUrl, type Upgrade } from '#platform/http/exchange.ts'
import { createHttpServer } from '#platform/http/httpServer.ts'
import { createWebSocketManager } from '#platform/http/webSocketManager.ts'
import type { Log } from '#platform/logging/log.ts'
import type { ListenAddress } from '#platform/net/listenAddress.ts'
import { Scope } from '#platform/program/scope.ts'
import { AppError } from '#shared/appError.ts'
import { localEventsPath } from '#shared/contract/localApi.ts'
import { routeTable } from '#shared/contract/routeTable.ts'
import { streamClose } from '#shared/contract/terminalStream.ts'
import { mcpPath } from '#shared/contract/toolClients.ts'
import { securePromptPath } from '#shared/contract/wallet.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import type { SecurePromptPages } from '../securePrompts/securePromptPages.ts'
import { createSessionCookie } from './cookies.ts'
import { createHostedModels, type HostedModels } from './hostedModels.ts'
import { createLocalRoutes, createNoSessionError, type LocalRoutesOptions, type LocalStatus } from './localRoutes.ts'
import { readWindowProof, stripLinkSignature } from './readWindowProof.ts'
import { createRequestGuard, createSecurePromptGuard } from './requestGuard.ts'
import { dataHeaders, forwardedResponseHeaders, toFrameSources } from './securityHeaders.ts'
import { createServiceProxy } from './serviceProxy.ts'
import { createStaticFiles } from './staticFiles.ts'
import type { UserSessions } from './userSessions.ts'

export type LocalServer = { port: number; close(): Promise<void> }

type Options = {
  address: ListenAddress
  /** Folder of the built interface. */
  pagesFolder: string
  link: ServiceLink
  sessions: UserSessions
  events: LocalEvents
  status: LocalStatus
  endpoints: readonly LocalEndpoint[]
  identifyClient: LocalRoutesOptions['identifyClient']
  /** Handles `/mcp`, which has separate keys. Defaults to 404. */
  mcp?: ((exchange: Exchange) => Promise<void>) | undefined
  tasks?: LocalRoutesOptions['tasks']
  principals?: LocalRoutesOptions['principals']
  /** Whether the user stopped everything. Defaults to never. */
  isStopped?: (() => boolean) | undefined
  /** Secure prompts, on a separate host name. */
  prompts?: SecurePromptPages | undefined
  log: Log
}

const maxMessageBytes = 64 * 1024
/** Maximum unread data before a page is disconnected. The page reloads its lists when it reconnects. */
const maxUnreadBytes = 8 * 1024 * 1024

/**
 * Starts the server for the renderer and for programs on this computer: pages, `/local/…`, and the whole service on one
 * address.
 */
export async function startLocalServer(options: Options): Promise<LocalServer> {
  const { address, link, log } = options
  const scope = new Scope()
  const closing = new AbortController()
  const server = createHttpServer({
    tls: undefined,
    headers: dataHeaders,
    closing: closing.signal,
    answer: (exchange) => answers.answer(exchange),
    upgrade: (upgrade) => answers.upgrade(upgrade),
    log,
  })
  const port = await server.listen(address)
  scope.own(server, (it) => it.close(0))
  const sockets = scope.own(createWebSocketManager({ maxPayloadBytes: maxMessageBytes, log }), (it) => it.close())
  const forwarder = scope.own(createServiceProxy(link), (it) => it.close())
  const models = scope.own(createHostedModels({ link, events: options.events, isStopped: options.isStopped }), (it) =>
    it.close(),
  )
  const answers = createLocalHandlers({ ...options, port, sockets, forwarder, models, toFailure: server.toFailure })
  scope.own(closing, (it) => it.abort())
  return { port, close: () => scope.close() }
}

type LocalServerContext = Options & {
  port: number
  sockets: ReturnType<typeof createWebSocketManager>
  forwarder: ReturnType<typeof createServiceProxy>
  models: HostedModels
  toFailure: LocalRoutesOptions['toFailure']
}

/** Routes a request to the secure prompts, the agent's endpoints, the service or the renderer's files. */
function createLocalHandlers(context: LocalServerContext) {
  const { port, link, sessions, events, prompts, sockets, forwarder, models } = context
  const pages = createStaticFiles(context.pagesFolder, () => toFrameSources({ port, serviceUrl: link.target()?.url }))
  const guard = createRequestGuard(port)
  const promptsGuard = createSecurePromptGuard(port)
  const cookie = createSessionCookie(port)
  /**
   * Returns whether a request comes from the user's session. Strips the signature of a window link, so that it is not
   * forwarded.
   */
  const takeProof = (request: IncomingMessage): boolean => {
    const proof = readWindowProof(request, Date.now())
    request.url = stripLinkSignature(request.url ?? '/')
    return proof !== undefined && sessions.isOpen(cookie.readSecret(request.headers) ?? '', proof)
  }
  const local = createLocalRoutes({ ...context, cookie, takeProof, guard: (request) => guard.check(request, 'call') })

  return {
    async answer(exchange: Exchange): Promise<void> {
      const { request, response } = exchange
      const path = readPath(request)
      if (promptsGuard.isForPrompts(request)) {
        promptsGuard.check(request)
        if (!prompts || !path.startsWith(`${securePromptPath}/`)) throw createNoPathError(path)
        return prompts.answer(request, response, path)
      }
      const area = findArea(path)
      if (area === 'local') return local(exchange)
      guard.check(request, area === 'page' ? 'page' : 'call')
      if (area === 'mcp' && context.mcp) return context.mcp(exchange)
      if (area === 'service') {
        return await models.forward(exchange, () => forwarder.forward(exchange, takeProof(request)))
      }
      if (area === 'documentation') {
        const headers = { ...forwardedResponseHeaders, location: getDocumentationUrl(link, request) }
        return sendBytes(exchange, createBytesAnswer({ status: 307, headers, body: '' }))
      }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        const only = { detail: 'Allowed methods: GET, HEAD.', headers: { allow: 'GET, HEAD' } }
        throw new AppError('request/method', `This path does not support ${request.method}.`, only)
      }
      return sendBytes(exchange, await pages.answer(request, path))
    },

    upgrade(upgrade: Upgrade): Promise<void> | void {
      const { request } = upgrade
      const path = readPath(request)
      guard.check(request, 'call')
      const isPerson = takeProof(request)
      if (findArea(path) === 'service') return toService(upgrade, isPerson)
      if (path !== localEventsPath) throw new AppError('request/not-found', `There is no WebSocket at ${path}.`)
      if (!isPerson) throw createNoSessionError()
      sockets.open(upgrade, { serve: (page) => sendEvents(page, events) })
    },
  }

  /** Pages cannot read the status of a rejected handshake, so the stream is closed with a code instead. */
  async function toService(upgrade: Upgrade, isPerson: boolean): Promise<void> {
    try {
      await forwarder.upgrade(upgrade, isPerson)
    } catch {
      if (upgrade.stream.destroyed) return
      sockets.open(upgrade, { serve: (socket) => socket.close(streamClose.unavailable, 'The service is unavailable.') })
    }
  }
}

/** `GET /local/events`: sends the same events to every page, starting with the state of the connection. */
function sendEvents(page: WebSocket, events: LocalEvents): void {
  const end = events.subscribe((event) => {
    if (page.readyState !== WebSocket.OPEN) return
    if (page.bufferedAmount > maxUnreadBytes) page.close(streamClose.tooSlow, 'Too many unread messages.')
    else page.send(JSON.stringify(event))
  })
  page.on('close', end)
}

type Area = 'service' | 'mcp' | 'documentation' | 'local' | 'page'

const findMetadata = '.well-known'
const servicePaths = routeTable.flatMap(({ path, aliases }) => [path, ...aliases])
/** First path segments of the service. Paths below `.well-known` are listed individually. */
const serviceSegments = new Set(['openapi.json', ...servicePaths.map(getFirstSegment)])
const metadataPaths = new Set<string>(servicePaths.filter((path) => getFirstSegment(path) === findMetadata))

function getFirstSegment(path: string): string {
  return path.split('/', 2)[1] ?? ''
}

function findArea(path: string): Area {
  if (path.startsWith('/local/')) return 'local'
  if (path === mcpPath) return 'mcp'
  if (path === '/docs' || path.startsWith('/docs/')) return 'documentation'
  if (path.startsWith(`${securePromptPath}/`)) return 'local' // no such local path: secure prompts exist on another host name only
  const segment = getFirstSegment(path)
  const isOfService = segment === findMetadata ? metadataPaths.has(path) : serviceSegments.has(segment)
  return isOfService ? 'service' : 'page'
}

/**
 * Documentation pages run their own scripts, so they are opened at the service's address. On this origin the scripts
 * would act as the user.
 */
function getDocumentationUrl({ target, absence }: ServiceLink, { url = '/docs' }: IncomingMessage): string {
  const to = target()
  if (!to) throw absence()
  return `${new URL(to.url).origin}${url}`
}

function createNoPathError(path: string): AppError {
  return new AppError('request/not-found', `There is nothing at ${path.slice(0, 200)}.`)
}

function readPath({ url = '/' }: IncomingMessage): string {
  return splitUrl(url).path
}
