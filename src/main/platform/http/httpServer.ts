import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { AppError } from '#shared/appError.ts'
import type { Log } from '../logging/log.ts'
import type { ListenAddress } from '../net/listenAddress.ts'
import { type Listening, listenAt, startListening } from '../net/loopbackListening.ts'
import { createAbortListeners } from './abortListeners.ts'
import { sendError } from './answers.ts'
import { type Exchange, RequestExchange, type Upgrade } from './exchange.ts'
import { drainBody, refuseUpgrade, rejectMalformedRequest, toAppError } from './failures.ts'
import { limitConnections } from './limitConnections.ts'
import { isWebSocketUpgrade } from './webSocketUpgrade.ts'

export type HttpServer = {
  /** Underlying server of Node.js, for additional sockets. */
  readonly server: Server
  toFailure(error: unknown, request: IncomingMessage): AppError
  /**
   * Replaces the certificate for new connections.
   * @throws Error if it is invalid; the current certificate stays in use
   */
  setCertificate(pem: { cert: string; key: string }): void
  /**
   * Requests on the additional socket are closed with the rest.
   * @returns the port, chosen by the system if 0 was requested
   * @throws AppError `listen/failed`, or the error of the additional socket
   */
  listen(address: ListenAddress, beside?: AdditionalSocket): Promise<number>
  /**
   * Stops accepting connections. Resolves when all requests are answered. Closes the remaining connections after the
   * deadline. WebSockets are closed by their owners.
   */
  close(deadlineMs: number): Promise<void>
}

export type AdditionalSocket = { open(server: Server): Promise<void>; close(): Promise<void> }

type Options = {
  tls: { cert: string; key: string } | undefined
  /** Default headers of every response. */
  headers: Readonly<Record<string, string>>
  /** Aborts when the server closes. New requests are then refused. */
  closing: AbortSignal
  /** Handles a request. Thrown errors become responses. */
  answer(exchange: Exchange): Promise<void> | void
  /** Handles a WebSocket upgrade. Thrown errors become responses. */
  upgrade(upgrade: Upgrade): Promise<void> | void
  log: Log
  /** Maximum connections per client address, except loopback. Default: unlimited, for use behind a proxy */
  maxConnectionsPerAddress?: number | undefined
}

/** Timeout for receiving a complete request, sized for uploads over slow connections. */
const requestTimeoutMs = 300_000
/** Longer than the idle timeout of clients. */
const keepAliveTimeoutMs = 72_000

/** Headers that SDKs of model providers show with an error. */
const requestIdHeaders = ['x-request-id', 'request-id'] as const
/** Timeout for receiving the headers of a request. */
const headersTimeoutMs = 10_000
/** Interval of timeout checks. A request may exceed its timeout by this. */
const timeoutCheckMs = 2_000

/** Creates a server that is not yet listening. */
export function createHttpServer(options: Options): HttpServer {
  const { tls, headers, closing, answer, upgrade, log, maxConnectionsPerAddress } = options
  const settings = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: timeoutCheckMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    shouldUpgradeCallback: isWebSocketUpgrade,
  }
  const tlsServer = tls && createTlsServer({ ...settings, ...tls })
  const server = tlsServer ?? createServer(settings)
  const ending = createAbortListeners(closing)
  const requests = new WeakMap<IncomingMessage, { requestId: string; exchange: Exchange }>()
  const toFailure = (error: unknown, request: IncomingMessage): AppError => {
    const { requestId, exchange } = requests.get(request) ?? {}
    return toAppError(error, log, { method: request.method ?? '', route: exchange?.routePath, requestId })
  }

  server.on('request', (request, response) => {
    const beganMs = performance.now()
    const requestId = `req_${randomUUID().replaceAll('-', '')}`
    const exchange = new RequestExchange({ request, response, headers, ending })
    requests.set(request, { requestId, exchange })
    response.once('finish', () => {
      const tookMs = performance.now() - beganMs
      log.debug('answered', {
        ...{ method: request.method, route: exchange.routePath, status: response.statusCode, tookMs, requestId },
        client: request.socket.remoteAddress,
        ...exchange.logFields,
      })
    })
    for (const name of requestIdHeaders) exchange.headers[name] = requestId
    handleExchange(exchange).catch((error: unknown) => {
      if (response.destroyed) return
      const appError = toFailure(error, request)
      drainBody(request)
      try {
        sendError(exchange, appError)
      } catch (unsendable) {
        toFailure(unsendable, request) // such as an invalid header
        response.destroy()
      }
    })
  })
  const handleExchange = async (exchange: Exchange): Promise<void> => {
    assertRequestTarget(exchange.request)
    if (closing.aborted) {
      exchange.headers.connection = 'close'
      throw new AppError('service/unavailable', 'The service is stopping.')
    }
    await answer(exchange)
  }
  server.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy()) // the handler is notified by `close`
    const handleUpgrade = async (): Promise<void> => {
      assertRequestTarget(request)
      assertHandshake(request)
      if (closing.aborted) throw new AppError('service/unavailable', 'The service is stopping.')
      await upgrade({ request, stream, head })
    }
    handleUpgrade().catch((error: unknown) => {
      if (!stream.destroyed) refuseUpgrade(stream, toFailure(error, request), headers)
    })
  })
  server.on('clientError', rejectMalformedRequest)
  if (maxConnectionsPerAddress !== undefined) limitConnections(server, maxConnectionsPerAddress)

  let listening: Listening | undefined
  let otherEnd: AdditionalSocket | undefined
  return {
    server,
    toFailure,
    setCertificate(pem) {
      if (tlsServer) tlsServer.setSecureContext(pem)
    },
    async listen(address, beside) {
      listening = await listenAt({ server, address, open: (target) => startListening(server, target) })
      if (beside) {
        otherEnd = beside
        await beside.open(server)
      }
      return listening.port
    },
    async close(deadlineMs) {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()))
      // A connection that becomes idle after `server.close()` would otherwise stay open until its client disconnects.
      const idle = setInterval(() => server.closeIdleConnections(), 20)
      const cutOff = setTimeout(() => server.closeAllConnections(), deadlineMs)
      server.closeIdleConnections()
      try {
        await Promise.all([closed, listening?.close(), otherEnd?.close()])
      } finally {
        clearInterval(idle)
        clearTimeout(cutOff)
      }
    },
  }
}

/**
 * Requires exactly one Host header and an absolute path. Node.js uses the first of two Host headers, and the path of an
 * absolute URL, while a proxy in front may have checked the other. https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
function assertRequestTarget({ url, rawHeaders }: IncomingMessage): void {
  if (!url?.startsWith('/')) throw new AppError('request/invalid', 'The request target must be a path.')
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) throw new AppError('request/malformed', 'The request has more than one `Host` header.')
}

/** A handshake is a GET without a body. The bytes of a body could be parsed as WebSocket frames. */
function assertHandshake({ method, headers }: IncomingMessage): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
  if (method === 'GET' && !hasBody) return
  throw new AppError('request/invalid', 'A WebSocket request must be a GET without a body.')
}
