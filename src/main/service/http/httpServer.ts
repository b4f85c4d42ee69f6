import type { IncomingHttpHeaders } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import type { Log } from '../../platform/log.ts'
import { isWebSocketUpgrade } from '../../platform/webSocketUpgrade.ts'
import type { Endpoint } from '../endpoint.ts'
import { answerBrokenRequest } from './brokenRequests.ts'
import { addEndpoints, type DispatchOptions } from './dispatch.ts'
import { dropRest, refusalHeaders, toAppError } from './errorAnswers.ts'
import { parseJsonBody } from './jsonBody.ts'
import { refuseOtherMethods } from './otherMethods.ts'
import type { RequestGuard } from './requestGuard.ts'
import { securityHeaders, transportSecurityHeader } from './securityHeaders.ts'

export type HttpServerOptions = DispatchOptions & {
  endpoints: readonly Endpoint[]
  /** Paths that only upgrade to a WebSocket. */
  socketPaths: readonly string[]
  /** Registers what is not of the contract: pages and documentation. */
  pages: readonly ((app: FastifyInstance) => void)[]
  guard: RequestGuard
  tls: { cert: string; key: string } | undefined
  log: Log
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body, kept only where an Idempotency-Key needs them. */
    bodyBytes: Buffer | null
  }
}

/** Time to send one whole request: uploads over slow lines need most of it. */
const requestTimeoutMs = 300_000

/** Makes the server without listening yet. Once `closing` fires, new requests are refused. */
export function httpServer(options: HttpServerOptions): FastifyInstance {
  const { log, guard, closing } = options
  const headers = { ...securityHeaders, ...(options.tls && transportSecurityHeader) }
  const answerFailure = (failure: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = toAppError(failure, log, { method: request.method, path: pathOf(request.url) })
    dropRest(request.raw)
    return reply
      .code(known.status)
      .headers(refusalHeaders(known))
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(known.toBody()))
  }
  const fixed = {
    logger: false,
    requestTimeout: requestTimeoutMs,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerBrokenRequest,
    routerOptions: { maxParamLength: 4096 },
    // Of addresses that reach no route, and so none of the hooks below.
    frameworkErrors: (failure: unknown, request: unknown, reply: unknown) =>
      void answerFailure(failure, request as FastifyRequest, (reply as FastifyReply).headers(headers)),
  } as const
  const server = { shouldUpgradeCallback: isWebSocketUpgrade }
  const app = (
    options.tls ? Fastify({ ...fixed, https: { ...server, ...options.tls } }) : Fastify({ ...fixed, http: server })
  ) as FastifyInstance // TLS changes only the raw server's type

  app.decorateRequest('bodyBytes', null)
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers)
    guard.check(request.headers)
    if (closing.aborted) throw new AppError('service/unavailable', 'The service is stopping.')
    // No body has no type, whatever a client says of it: some name that of a form with every POST.
    if (isEmpty(request.headers)) delete request.headers['content-type']
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url } = request
    log.debug('answered', { method, path: pathOf(url), status: reply.statusCode, tookMs: reply.elapsedTime })
    done()
  })
  app.setErrorHandler(answerFailure)
  app.setNotFoundHandler((request) => {
    throw new AppError('request/not-found', `There is nothing at ${pathOf(request.url)}.`)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (request.headers['idempotency-key'] !== undefined) request.bodyBytes = bytes
    done(null, parseJsonBody(bytes))
  })
  // Read by the handler, as it comes.
  app.addContentTypeParser('application/octet-stream', (request, _, done) => {
    const refused = new AppError('request/media-type', 'The body must be `application/json`.')
    done(request.routeOptions.config.takesBytes === true ? null : refused)
  })

  addEndpoints(app, options.endpoints, options)
  for (const path of options.socketPaths) {
    app.get(path, (request) => {
      throw new AppError('request/upgrade', `${pathOf(request.url)} is a WebSocket.`)
    })
  }
  for (const addPages of options.pages) addPages(app)
  refuseOtherMethods(app, [
    ...options.endpoints.flatMap(({ route }) =>
      [route.path, ...route.aliases].map((path) => ({ path, method: route.method })),
    ),
    ...options.socketPaths.map((path) => ({ path, method: 'GET' as const })),
  ])
  return app
}

function isEmpty({ 'content-length': length, 'transfer-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding === undefined && (length === undefined || length === '0')
}

function pathOf(url: string): string {
  return (url.split('?')[0] ?? '').slice(0, 200)
}

/** Ends when what is under way has been answered, or is cut off when that takes too long. */
export async function closeServer(app: FastifyInstance, deadlineMs: number): Promise<void> {
  const { server } = app
  // A connection that becomes idle after the server was told to close would stay until its client leaves.
  const idle = setInterval(() => server.closeIdleConnections(), 20)
  const cutOff = setTimeout(() => server.closeAllConnections(), deadlineMs)
  try {
    await app.close()
  } finally {
    clearInterval(idle)
    clearTimeout(cutOff)
  }
}
