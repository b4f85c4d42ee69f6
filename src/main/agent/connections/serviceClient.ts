import { createHttpClient, type HttpClient, type HttpRequest, readText } from '#platform/http/httpClient.ts'
import { createSseParser } from '#platform/http/sseEvents.ts'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { parseResponse, type UnreadableEntry } from '#shared/contract/parseResponse.ts'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'
import { toServiceError } from '../base/serviceRefusal.ts'
import { createTaskHeaders, type TaskContext } from '../base/taskContext.ts'
import { buildUrl, createConnector, createTlsOptions, type ServiceTarget } from './serviceTarget.ts'

export type ServiceCallOptions = {
  signal?: AbortSignal
  /** Credential instead of the agent's own. Null sends none. */
  credential?: string | null
  idempotencyKey?: string
  /** Timeout of the response, in milliseconds. Defaults to 30,000. */
  answerMs?: number
  /**
   * Called with list entries that do not match their schema, before the other entries are returned. By default the call
   * throws.
   */
  onUnreadable?: (entries: readonly UnreadableEntry[]) => void
}

/** Calls operations of the service with the agent's own credential. */
export type ServiceClient = {
  /** @throws AppError returned by the service, or `service/unavailable` */
  call<R extends Route>(route: R, input: Input<R>, options?: ServiceCallOptions): Promise<Output<R>>
  /**
   * Calls an endpoint that responds with server-sent events. The signal ends the stream.
   * @throws AppError as `call`, before the first event
   */
  stream<R extends Route>(route: R, input: Input<R>, options: { signal: AbortSignal }): Promise<ServiceStream>
  close(): Promise<void>
}

export type ServiceStream = {
  headers: Readonly<Record<string, string>>
  /** Contents of `data` fields as they arrive. Throws AppError `service/unavailable` on a disconnect or timeout. */
  events: AsyncIterable<string>
}

const defaultAnswerMs = 30_000
/** Timeout until a response begins, because a model may reason for a long time before its first output. */
const firstByteTimeoutMs = 20 * 60_000
/** Silence before a disconnect, in milliseconds; the service sends a comment every 15 s. */
const silentMs = 90_000
const maxRefusalBytes = 256 * 1024
const maxAnswerBytes = 16 * 1024 * 1024

/** @param tasks adds the current task to each request, if present */
export function createServiceClient(
  target: () => ServiceTarget | undefined,
  tasks?: Pick<TaskContext, 'current'>,
): ServiceClient {
  // One client per socket and certificate, because a service with a pinned certificate is trusted with that one only.
  const clients = new Map<string | undefined, HttpClient>()
  const getClient = (to: ServiceTarget): HttpClient => {
    const trusted = to.socketPath ?? to.certificate ?? to.authority
    const existing = clients.get(trusted)
    if (existing) return existing
    const created = createHttpClient({ maxAnswerBytes, connect: createConnector(to), tls: createTlsOptions(to) })
    clients.set(trusted, created)
    return created
  }

  type RequestOptions = ServiceCallOptions & { signal: AbortSignal; accept: string }
  const prepareRequest = <R extends Route>(
    route: R,
    input: Input<R>,
    { signal, accept, ...options }: RequestOptions,
  ) => {
    const to = target()
    if (!to) throw createUnavailableError()
    const { path, body } = buildRequest(route, input)
    const task = options.credential === undefined ? tasks?.current() : undefined
    const key = options.credential === undefined ? to.key : options.credential
    const request: HttpRequest = {
      method: route.method,
      signal,
      headers: {
        accept,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...createTaskHeaders(task),
        ...(options.idempotencyKey !== undefined && { 'idempotency-key': options.idempotencyKey }),
      },
      body,
    }
    return { client: getClient(to), url: `${buildUrl(to)}${path}`, request }
  }

  return {
    async call(route, input, options = {}) {
      const bound = createBound(options.signal, options.answerMs ?? defaultAnswerMs)
      const sendRequest = async () => {
        const requested = { ...options, signal: bound.signal, accept: 'application/json' }
        const { client, url, request } = prepareRequest(route, input, requested)
        return mapErrors(client.ask(url, request))
      }
      const { status, text } = await sendRequest().finally(bound.end)
      const answer = parseJsonOrUndefined(text)
      if (status >= 400) throw toServiceError(status, answer)
      const read = parseResponse(route, answer)
      if (!read.success) throw createUnreadableError(route, read.error)
      // Entries are skipped only for callers that handle them. For other callers a shorter list would imply a removal.
      if (read.unreadable.length > 0) {
        if (!options.onUnreadable) throw createUnreadableError(route, read.unreadable)
        options.onUnreadable(read.unreadable)
      }
      return read.answer
    },
    async stream(route, input, { signal }) {
      const bound = createBound(signal, firstByteTimeoutMs)
      try {
        const options = { signal: bound.signal, accept: 'text/event-stream' }
        const { client, url, request } = prepareRequest(route, input, options)
        const { status, headers, body } = await mapErrors(client.open(url, request))
        if (status >= 400) {
          const text = await mapErrors(readText(body, maxRefusalBytes))
          throw toServiceError(status, parseJsonOrUndefined(text), headers['retry-after'])
        }
        bound.begun()
        return {
          headers: toSingleHeaders(headers),
          events: parseEvents(body, { options: bound.abort, ended: bound.end }),
        }
      } catch (error) {
        bound.end()
        throw error
      }
    },
    async close() {
      for (const client of clients.values()) client.close()
    },
  }
}

function createUnreadableError({ summary }: Route, cause: unknown): AppError {
  return new AppError('service/unavailable', `The service's response to “${summary}” could not be read.`, { cause })
}

/**
 * Creates a signal that fires with the caller's signal or after a timeout. Avoids `AbortSignal.any`, whose dependent
 * signals would accumulate on the caller's signal with each call.
 */
function createBound(signal: AbortSignal | undefined, ms: number) {
  const leaving = new AbortController()
  const abort = (): void => leaving.abort()
  const late = setTimeout(abort, ms)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: leaving.signal,
    abort,
    /** Disables the timeout once the response has begun. */
    begun: () => clearTimeout(late),
    end() {
      clearTimeout(late)
      signal?.removeEventListener('abort', abort)
    },
  }
}

async function mapErrors<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (cause) {
    throw createUnavailableError(cause)
  }
}

/** Parses the events of a stream. Silence aborts the connection, so that the read fails. */
async function* parseEvents(
  body: AsyncIterable<Uint8Array>,
  { options, ended }: { options: () => void; ended: () => void },
): AsyncGenerator<string> {
  const parser = createSseParser()
  const pieces = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const silent = setTimeout(options, silentMs)
      const { done, value } = await pieces.next().finally(() => clearTimeout(silent))
      for (const { data } of done ? parser.end() : parser.feed(value)) yield data
      if (done) return
    }
  } catch (cause) {
    throw createUnavailableError(cause)
  } finally {
    ended()
    await pieces.return?.() // closes the connection if the response was not read to the end
  }
}

function toSingleHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  )
}

function createUnavailableError(cause?: unknown): AppError {
  return new AppError('service/unavailable', "The service isn't responding.", { cause })
}
