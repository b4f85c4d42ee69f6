import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type ServerResponse,
} from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../shared/appError.ts'
import type { ServiceLink } from '../connections/serviceLink.ts'
import { connector, placeOfTarget, type ServiceTarget, tlsOptions } from '../connections/serviceTarget.ts'
import { answerHeaders, requestHeaders } from './forwardedHeaders.ts'

export type RequestForwarder = {
  /** @throws AppError `service/unavailable`, `service/sign-in` */
  forward(request: IncomingMessage, response: ServerResponse, owner: boolean): Promise<void>
  close(): void
}

/** A command may run for an hour before the service answers. */
const answerMs = 3_600_000 + 60_000

/** Hands requests on to the service, bodies streaming both ways, each side as fast as the slower one. */
export function requestForwarder({ target, absence }: Pick<ServiceLink, 'target' | 'absence'>): RequestForwarder {
  const plain = new Agent({ keepAlive: true })
  const tls = new TlsAgent({ keepAlive: true })
  const overSockets = new Map<string, Agent>()

  const agentOf = (to: ServiceTarget): Agent => {
    const { socketPath } = to
    const connect = connector(to)
    if (socketPath === undefined || !connect) return plain
    const known = overSockets.get(socketPath)
    if (known) return known
    const made = new Agent({ keepAlive: true })
    made.createConnection = connect
    overSockets.set(socketPath, made)
    return made
  }

  const ask = (to: ServiceTarget, request: IncomingMessage, owner: boolean): ClientRequest => {
    const { secure, hostname, port, host } = placeOfTarget(to)
    const headers = requestHeaders(request, owner ? to.key : undefined)
    const options = {
      hostname,
      port,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      // A body of unknown length is framed again: as raw bytes it could pass for another request.
      headers: { ...headers, host, ...(isChunked(request) && { 'transfer-encoding': 'chunked' }) },
      timeout: answerMs,
    }
    return secure
      ? tlsRequest({ ...options, agent: tls, ...tlsOptions(to) })
      : plainRequest({ ...options, agent: agentOf(to) })
  }

  return {
    async forward(request, response, owner) {
      const to = target()
      if (!to) throw absence()
      const asked = asking(() => ask(to, request, owner))
      asked.on('timeout', () => asked.destroy(new Error('The service did not answer in time.')))
      const leave = () => asked.destroy()
      response.once('close', leave)
      try {
        const answer = await answerOf(asked, request)
        response.writeHead(answer.statusCode ?? 502, answerHeaders(answer.headers))
        await pipeline(answer, response)
      } catch (failure) {
        if (!response.destroyed) throw unavailable(failure)
      } finally {
        response.off('close', leave)
      }
    },
    close() {
      plain.destroy()
      for (const agent of overSockets.values()) agent.destroy()
      tls.destroy()
    },
  }
}

/** An agent connects at once where it has no connection left. */
function asking(ask: () => ClientRequest): ClientRequest {
  try {
    return ask()
  } catch (failure) {
    throw unavailable(failure)
  }
}

/** Sends the body along, and stops when the service answers before it has taken all of it. */
function answerOf(asked: ClientRequest, request: IncomingMessage): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    asked.once('response', resolve)
    asked.on('error', (failure) => {
      request.unpipe(asked)
      reject(failure)
    })
    request.pipe(asked)
  })
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined
}

function unavailable(cause: unknown): AppError {
  return new AppError('service/unavailable', 'The service does not answer.', { cause, retryAfterSeconds: 1 })
}
