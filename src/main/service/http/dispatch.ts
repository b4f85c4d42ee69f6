import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Parsed, Route } from '../../../shared/contract/route.ts'
import type { AccountId } from '../../../shared/ids.ts'
import type { Call, Caller, Endpoint } from '../endpoint.ts'
import type { IdempotentAnswers } from '../idempotency/idempotentAnswers.ts'
import { type Authentication, authorize } from './authentication.ts'
import { credentialOf } from './credentials.ts'
import { parseRequest } from './parseRequest.ts'

export type DispatchOptions = {
  authentication: Authentication
  idempotency: IdempotentAnswers
  /** Fires when the service stops. */
  closing: AbortSignal
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
}

const noBytes = Buffer.alloc(0)

/** Adds each endpoint under its path and aliases: credential first, then body and fields, then the handler. */
export function addEndpoints(app: FastifyInstance, endpoints: readonly Endpoint[], options: DispatchOptions): void {
  app.decorateRequest('caller', null)
  for (const endpoint of endpoints) {
    const { route } = endpoint
    for (const path of [route.path, ...route.aliases]) {
      app.route({
        method: route.method,
        url: path,
        bodyLimit: route.maxBodyBytes,
        ...(endpoint.kind === 'guarded' && {
          onRequest: (request, _, done) => {
            request.caller = callerOf(request, endpoint, options.authentication)
            done()
          },
        }),
        handler: (request, reply) => answer(endpoint, { request, reply }, options),
      })
    }
  }
}

type Exchange = { request: FastifyRequest; reply: FastifyReply }

function callerOf(
  request: FastifyRequest,
  { route, linkMayUse }: Extract<Endpoint, { kind: 'guarded' }>,
  authentication: Authentication,
): Caller {
  const caller = authentication.identify(credentialOf(request.headers), request.ip)
  const params = request.params as Record<string, string | undefined> // what the router cut out of the path
  authorize(caller, { auth: route.auth, linkMayUse, id: params.id })
  return caller
}

async function answer(endpoint: Endpoint, exchange: Exchange, options: DispatchOptions): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { route } = endpoint
  const input = parseRequest(route, request)
  const work = () => handled(endpoint, input, exchange, options.closing)
  const key = route.idempotent ? request.headers['idempotency-key'] : undefined
  const { caller } = request
  const { status, body, replayed } =
    key === undefined || caller === null
      ? { ...(await work()), replayed: false }
      : await repeatable(caller.accountId, String(key), { request, options, work })
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}

function repeatable(
  accountId: AccountId,
  key: string,
  { request, options, work }: { request: FastifyRequest; options: DispatchOptions; work: () => Promise<Kept> },
) {
  const { method, url: path, bodyBytes } = request
  return options.idempotency.once({ accountId, key, method, path, body: bodyBytes ?? noBytes }, work)
}

type Kept = { status: number; body: string }

async function handled(
  endpoint: Endpoint,
  input: Parsed<Route>,
  exchange: Exchange,
  closing: AbortSignal,
): Promise<Kept> {
  const result = endpoint.kind === 'open' ? endpoint.handle(input) : endpoint.handle(input, callOf(exchange, closing))
  return { status: endpoint.route.status, body: JSON.stringify(await result) }
}

function callOf({ request, reply }: Exchange, closing: AbortSignal): Call {
  const { caller } = request
  if (!caller) throw new Error('A guarded route was reached without a caller.')
  let signal: AbortSignal | undefined
  return {
    caller,
    get signal() {
      signal ??= goneSignal(reply, closing)
      return signal
    },
  }
}

/** Made only for the handlers that ask for it. */
function goneSignal(reply: FastifyReply, closing: AbortSignal): AbortSignal {
  const gone = new AbortController()
  const end = () => gone.abort()
  reply.raw.once('close', () => {
    closing.removeEventListener('abort', end)
    if (!reply.raw.writableFinished) end()
  })
  if (closing.aborted) end()
  else closing.addEventListener('abort', end, { once: true })
  return gone.signal
}
