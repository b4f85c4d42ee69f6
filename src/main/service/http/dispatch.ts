import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../../shared/appError.ts'
import { parseRequest } from '../../../shared/contract/parseRequest.ts'
import type { Parsed, Route } from '../../../shared/contract/route.ts'
import type { AccountId } from '../../../shared/ids.ts'
import { credentialOf } from '../../platform/requestCredential.ts'
import type { Call, Caller, Endpoint, OpenEndpoint, Place, RawEndpoint } from '../endpoint.ts'
import type { IdempotentAnswers } from '../idempotency/idempotentAnswers.ts'
import { type Authentication, authorize } from './authentication.ts'
import type { CallerAddress } from './callerAddress.ts'
import type { OwnHost } from './ownHost.ts'
import type { RateLimits } from './rateLimits.ts'

export type DispatchOptions = {
  authentication: Authentication
  idempotency: IdempotentAnswers
  limits: RateLimits
  addressOf: CallerAddress
  ownHost: OwnHost
  /** Fires when the service stops. */
  closing: AbortSignal
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null
  }
  interface FastifyContextConfig {
    takesBytes?: boolean
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
        config: { takesBytes: route.raw?.request !== undefined },
        onRequest: (request, _, done) => {
          if (endpoint.kind === 'open') admitUnknown(request, endpoint, options)
          else request.caller = callerOf(request, endpoint, options)
          done()
        },
        handler: (request, reply) =>
          endpoint.kind === 'raw'
            ? answerRaw(endpoint, { request, reply }, options)
            : answer(endpoint, { request, reply }, options),
      })
    }
  }
}

type JsonEndpoint = Exclude<Endpoint, RawEndpoint>
type Exchange = { request: FastifyRequest; reply: FastifyReply }

function callerOf(
  request: FastifyRequest,
  { route, linkMayUse }: Exclude<Endpoint, OpenEndpoint>,
  { authentication, addressOf }: DispatchOptions,
): Caller {
  const caller = authentication.identify(credentialOf(request.headers), addressOf(request.raw))
  const params = request.params as Record<string, string | undefined> // what the router cut out of the path
  authorize(caller, { auth: route.auth, linkMayUse, id: params.id })
  return caller
}

function admitUnknown(request: FastifyRequest, { signIn }: OpenEndpoint, { limits, addressOf }: DispatchOptions): void {
  const address = addressOf(request.raw)
  if (signIn) limits.signIn(address)
  else limits.unknown(address)
}

async function answer(endpoint: JsonEndpoint, exchange: Exchange, options: DispatchOptions): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { route } = endpoint
  const input = parseRequest(route, request)
  const work = () => handled(endpoint, input, exchange, options)
  const key = route.idempotent ? request.headers['idempotency-key'] : undefined
  const { caller } = request
  const { status, body, replayed } =
    key === undefined || caller === null
      ? { ...(await work()), replayed: false }
      : await repeatable(caller.accountId, String(key), { request, options, work })
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(status).type('application/json; charset=utf-8').send(body)
}

/** A body that nobody read to its end takes its connection with it. */
async function answerRaw(endpoint: RawEndpoint, exchange: Exchange, options: DispatchOptions): Promise<FastifyReply> {
  const { request, reply } = exchange
  const { route, handle } = endpoint
  const type = request.headers['content-type']
  if (route.raw?.request !== undefined && type !== undefined && !type.toLowerCase().startsWith(route.raw.request)) {
    throw new AppError('request/media-type', `The body must be \`${route.raw.request}\`.`)
  }
  const given = { params: request.params, query: request.query, body: undefined }
  const call = callOf(exchange, options)
  const answer = await handle(parseRequest(route, given), {
    caller: call.caller,
    host: call.host,
    count: call.count,
    get signal() {
      return call.signal
    },
    method: request.method,
    headers: request.headers,
    body: route.raw?.request === undefined ? noPieces() : limited(request, route.maxBodyBytes),
    setHeader: (name, value) => void reply.header(name, value),
  })
  if (answer.kind === 'json') {
    return reply.code(route.status).type('application/json; charset=utf-8').send(JSON.stringify(answer.value))
  }
  // Without a body Fastify would tell of a length of 0.
  const body = answer.body ?? (request.method === 'HEAD' ? Readable.from([]) : undefined)
  return reply.code(answer.status).headers(answer.headers).send(body)
}

async function* noPieces(): AsyncGenerator<Uint8Array> {}

async function* limited(request: FastifyRequest, most: number): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new AppError('request/too-large', `The body has more than ${most} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  let bytes = 0
  for await (const piece of request.raw.iterator({ destroyOnReturn: false })) {
    bytes += piece.length
    if (bytes > most) throw tooLarge()
    yield piece
  }
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
  endpoint: JsonEndpoint,
  input: Parsed<Route>,
  exchange: Exchange,
  options: DispatchOptions,
): Promise<Kept> {
  const result =
    endpoint.kind === 'open'
      ? endpoint.handle(input, placeOf(exchange, options))
      : endpoint.handle(input, callOf(exchange, options))
  return { status: endpoint.route.status, body: JSON.stringify(await result) }
}

function callOf({ request, reply }: Exchange, options: DispatchOptions): Call {
  const { caller } = request
  if (!caller) throw new Error('A guarded route was reached without a caller.')
  let signal: AbortSignal | undefined
  return {
    caller,
    ...placeOf({ request }, options),
    get signal() {
      signal ??= goneSignal(reply, options.closing)
      return signal
    },
  }
}

function placeOf({ request }: Pick<Exchange, 'request'>, options: DispatchOptions): Place {
  const { authentication, limits, addressOf, ownHost } = options
  return {
    host: ownHost(request.raw),
    count(what) {
      const caller = request.caller ?? authentication.holder(credentialOf(request.headers))
      limits.count(what, { address: addressOf(request.raw), caller })
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
