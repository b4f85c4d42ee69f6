import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { AppError } from '../../../shared/appError.ts'
import { sheetPath } from '../../../shared/contract/wallet.ts'
import type { ListenAddress } from '../../platform/listenAddress.ts'
import type { Log } from '../../platform/log.ts'
import { listenAt, startListening } from '../../platform/loopbackListening.ts'
import { Scope } from '../../platform/scope.ts'
import { isWebSocketUpgrade } from '../../platform/webSocketUpgrade.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { SheetPages } from '../sheets/sheetPages.ts'
import { asAppError, frameSources, refuseUpgrade, sendElsewhere, sendError } from './answers.ts'
import { sessionCookieOf } from './cookies.ts'
import { eventSockets } from './eventSockets.ts'
import type { LocalEndpoint } from './localEndpoint.ts'
import { type LocalRoutesOptions, type LocalStatus, localRoutes } from './localRoutes.ts'
import { pageFiles } from './pageFiles.ts'
import type { PersonSessions } from './personSessions.ts'
import { requestForwarder } from './requestForwarder.ts'
import { requestGuard, sheetGuard } from './requestGuard.ts'
import { streamForwarder } from './streamForwarder.ts'
import { windowProofOf, withoutLink } from './windowProof.ts'

export type LocalServer = { port: number; close(): Promise<void> }

type Options = {
  address: ListenAddress
  /** The built interface. */
  pagesFolder: string
  link: ServiceLink
  sessions: PersonSessions
  events: LocalEvents
  status: LocalStatus
  endpoints: readonly LocalEndpoint[]
  clientOf: LocalRoutesOptions['clientOf']
  /** The wallet's own pages, on a host name of theirs. */
  sheets?: SheetPages | undefined
  log: Log
}

const maxMessageBytes = 64 * 1024

/** The one address for the renderer and for the programs a person runs: pages, `/local/…`, and all of the service. */
export async function startLocalServer({
  address,
  pagesFolder,
  link,
  sessions,
  events: sent,
  status,
  endpoints,
  clientOf,
  sheets,
  log,
}: Options): Promise<LocalServer> {
  const scope = new Scope()
  const http = createServer({ shouldUpgradeCallback: isWebSocketUpgrade })
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false })
  const forwarder = requestForwarder(link)
  const streams = streamForwarder(link.target, webSockets)
  const events = eventSockets(sent, webSockets)
  const held = await listenAt({ server: http, address, open: (at) => startListening(http, at) })
  const { port } = held
  const pages = pageFiles(pagesFolder, () => frameSources({ port, serviceUrl: link.target()?.url }))
  const guard = requestGuard(port)
  const sheetsGuard = sheetGuard(port)
  const cookie = sessionCookieOf(port)
  const local = localRoutes({ sessions, cookie, link, status, endpoints, clientOf })
  /** Whether it is the person's. What a link of the window brought to show that is taken off it, and goes no further. */
  const takeProof = (request: IncomingMessage): boolean => {
    const proof = windowProofOf(request, Date.now())
    request.url = withoutLink(request.url ?? '/')
    return proof !== undefined && sessions.isOpen(cookie.secretOf(request.headers) ?? '', proof)
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = pathOf(request)
    if (sheetsGuard.isMeant(request)) {
      sheetsGuard.check(request)
      if (!sheets || !path.startsWith(`${sheetPath}/`)) throw new AppError('request/not-found', `There is no ${path}.`)
      return sheets.answer(request, response, path)
    }
    const place = placeOf(path)
    guard.check(request, place === 'page' ? 'page' : 'call')
    if (place === 'documentation') return sendElsewhere(response, documentation(link, request))
    if (place === 'service') return forwarder.forward(request, response, takeProof(request))
    if (place === 'local') return local.answer(request, response, { path, person: takeProof(request) })
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw new AppError('request/method', `${request.method} is not for ${path}.`)
    }
    return pages.send(request, response, path)
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const path = pathOf(request)
    guard.check(request, 'call')
    if (placeOf(path) === 'service') {
      streams.forward(request, socket, head, takeProof(request))
      return
    }
    local.checkEvents(path, takeProof(request))
    events.open(request, socket, head)
  }

  http.on('request', (request, response) => {
    answer(request, response).catch((failure: unknown) => {
      const error = asAppError(failure)
      if (response.destroyed) return
      if (error.code === 'internal/unexpected') log.error('a request failed', { failure, path: pathOnly(request) })
      sendError(response, error)
    })
  })
  http.on('upgrade', (request, socket, head) => {
    try {
      upgrade(request, socket, head)
    } catch (failure) {
      socket.on('error', () => {}) // it is on its way out
      refuseUpgrade(socket, asAppError(failure))
    }
  })

  scope.own(held, (it) => it.close())
  scope.own(
    http,
    (it) =>
      new Promise<void>((resolve) => {
        it.close(() => resolve())
        it.closeAllConnections()
      }),
  )
  scope.own(forwarder, (it) => it.close())
  scope.own(streams, (it) => it.close())
  scope.own(webSockets, (it) => {
    for (const socket of it.clients) socket.terminate()
    it.close()
  })
  return { port, close: () => scope.close() }
}

type Place = 'service' | 'documentation' | 'local' | 'page'

function placeOf(path: string): Place {
  if (path.startsWith('/local/')) return 'local'
  if (['/v1/', '/auth/'].some((start) => path.startsWith(start))) return 'service'
  if (path === '/docs' || path.startsWith('/docs/')) return 'documentation'
  if (path.startsWith(`${sheetPath}/`)) return 'local' // which has no such path: sheets are on no other host name
  return path === '/health' || path === '/openapi.json' ? 'service' : 'page'
}

/** Pages of the service with scripts of its own are read at its own address: here they would act as the person. */
function documentation({ target, absence }: ServiceLink, { url = '/docs' }: IncomingMessage): string {
  const to = target()
  if (!to) throw absence()
  return `${new URL(to.url).origin}${url}`
}

function pathOf(request: IncomingMessage): string {
  const path = pathOnly(request)
  if (!path.startsWith('/')) throw new AppError('request/invalid', 'The request names no path of this server.')
  return path
}

function pathOnly({ url = '/' }: IncomingMessage): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}
