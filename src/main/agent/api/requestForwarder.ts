import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Agent, errors } from 'undici'
import { AppError } from '../../../shared/appError.ts'
import type { ServiceTarget } from '../connections/serviceTarget.ts'
import { tlsOptions } from '../connections/serviceTarget.ts'
import { answerHeaders, requestHeaders } from './forwardedHeaders.ts'

export type RequestForwarder = {
  /** @throws AppError `service/unavailable` */
  forward(request: IncomingMessage, response: ServerResponse, owner: boolean): Promise<void>
  close(): Promise<void>
}

const connectMs = 5_000
/** A command may run for an hour before the service answers. */
const answerMs = 3_600_000 + 60_000

/** Hands requests on to the service, bodies streaming both ways, each side as fast as the slower one. */
export function requestForwarder(target: () => ServiceTarget | undefined): RequestForwarder {
  let held: { target: ServiceTarget; agent: Agent } | undefined

  const agentFor = (wanted: ServiceTarget): Agent => {
    if (held?.target === wanted) return held.agent
    void held?.agent.close()
    const agent = new Agent({
      connect: { timeout: connectMs, ...tlsOptions(wanted) },
      headersTimeout: answerMs,
      bodyTimeout: answerMs,
    })
    held = { target: wanted, agent }
    return agent
  }

  return {
    async forward(request, response, owner) {
      const to = target()
      if (!to) throw unavailable()
      const gone = new AbortController()
      const onClose = () => gone.abort()
      response.once('close', onClose)
      try {
        const answer = await agentFor(to).request({
          origin: to.url,
          path: request.url ?? '/',
          // The method was parsed by Node's own server: it is one that HTTP knows.
          method: (request.method ?? 'GET') as 'GET',
          headers: requestHeaders(request, owner ? to.key : undefined),
          body: hasBody(request) ? request : null,
          signal: gone.signal,
        })
        response.writeHead(answer.statusCode, answerHeaders(answer.headers))
        await pipeline(answer.body, response)
      } catch (failure) {
        if (gone.signal.aborted) return // nobody is left to tell
        throw asUnavailable(failure)
      } finally {
        response.off('close', onClose)
      }
    },
    close: async () => held?.agent.destroy(),
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export function unavailable(cause?: unknown): AppError {
  return new AppError('service/unavailable', 'The service does not answer.', { cause, retryAfterSeconds: 1 })
}

function asUnavailable(failure: unknown): unknown {
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : ''
  const lost = failure instanceof errors.UndiciError || /^(ECONN|EPIPE|ENOTFOUND|ETIMEDOUT|EHOST|ENET)/.test(code)
  return lost ? unavailable(failure) : failure
}
