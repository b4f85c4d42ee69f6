import { Agent, type ClientRequest, request as plainRequest, type RequestOptions } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Exchange, Upgrade } from '#platform/http/exchange.ts'
import { forwardRequest } from '#platform/http/forwardRequest.ts'
import { forwardUpgrade } from '#platform/http/forwardUpgrade.ts'
import { AppError } from '#shared/appError.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import {
  createConnector,
  createTlsOptions,
  getConnectTarget,
  type ServiceTarget,
} from '../connections/serviceTarget.ts'
import { createHandshakeHeaders, createRequestHeaders, createResponseHeaders } from './proxyHeaders.ts'

export type ServiceProxy = {
  /** @throws AppError `service/unavailable`, `service/sign-in` */
  forward(exchange: Exchange, owner: boolean): Promise<void>
  /** Resolves when the connection has closed. @throws AppError as `forward` */
  upgrade(upgrade: Upgrade, owner: boolean): Promise<void>
  close(): void
}

/** A command may run for an hour before the service responds. */
const responseTimeoutMs = 3_600_000 + 60_000
const handshakeTimeoutMs = 10_000

export function createServiceProxy({ target, absence }: Pick<ServiceLink, 'target' | 'absence'>): ServiceProxy {
  const connections = createConnectionPool()
  const joined = new Set<Duplex>()
  const present = (): ServiceTarget => {
    const to = target()
    if (!to) throw absence()
    return to
  }
  return {
    forward(exchange, owner) {
      const { request } = exchange
      const to = present()
      return forwardRequest(exchange, {
        reach: () => (framing) =>
          sendRequest(to, {
            method: request.method ?? 'GET',
            path: request.url ?? '/',
            headers: { ...createRequestHeaders(request, owner ? to.key : undefined), ...framing },
            ...connections.getOptions(to),
          }),
        answerHead: (answer) => ({ reason: undefined, headers: createResponseHeaders(answer) }),
        answerMs: responseTimeoutMs,
        idleMs: responseTimeoutMs,
        toError: createUnavailableError,
      })
    },
    async upgrade(upgrade, owner) {
      const { request, stream } = upgrade
      const to = present()
      joined.add(stream)
      stream.once('close', () => joined.delete(stream))
      await forwardUpgrade(upgrade, {
        reach: () => (framing) => {
          const { 'content-length': _ofNothing, ...headers } = createRequestHeaders(request, owner ? to.key : undefined)
          const createConnection = createConnector(to)
          return sendRequest(to, {
            method: 'GET',
            path: request.url ?? '/',
            headers: { ...headers, ...framing },
            // Opens a new connection per request unless an agent is passed.
            ...(createConnection ? { createConnection } : { agent: false }),
          })
        },
        answerHead: (answer) => ({
          reason: undefined,
          headers: answer.statusCode === 101 ? createHandshakeHeaders(answer, request) : createResponseHeaders(answer),
        }),
        answerMs: handshakeTimeoutMs,
        idleMs: responseTimeoutMs,
        toError: createUnavailableError,
      })
    },
    close() {
      connections.close()
      for (const stream of joined) stream.destroy()
    },
  }
}

function sendRequest(to: ServiceTarget, options: RequestOptions): ClientRequest {
  const { secure, hostname, port, host } = getConnectTarget(to)
  const send = secure ? tlsRequest : plainRequest
  return send({
    ...options,
    hostname,
    port,
    headers: { ...options.headers, host },
    ...(secure && createTlsOptions(to)),
  })
}

/** Creates a pool of keep-alive connections to services. */
function createConnectionPool() {
  const plain = new Agent({ keepAlive: true })
  const tls = new TlsAgent({ keepAlive: true })
  const overSockets = new Map<string, Agent>()
  return {
    getOptions(to: ServiceTarget): { agent: Agent } {
      const { socketPath } = to
      const connect = createConnector(to)
      if (socketPath === undefined || !connect) return { agent: getConnectTarget(to).secure ? tls : plain }
      const agent = overSockets.get(socketPath) ?? new Agent({ keepAlive: true })
      agent.createConnection = connect
      overSockets.set(socketPath, agent)
      return { agent }
    },
    close() {
      for (const agent of [plain, tls, ...overSockets.values()]) agent.destroy()
    },
  }
}

function createUnavailableError(_: unknown, cause?: unknown): AppError {
  return new AppError('service/unavailable', "The service isn't responding.", { cause, retryAfterSeconds: 1 })
}
