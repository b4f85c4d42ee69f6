import { AppError, parseErrorCode } from '#shared/appError.ts'
import { parseResponse } from '#shared/contract/parseResponse.ts'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'

/** Calls one operation. @throws {AppError} or the signal's reason if the call was aborted */
export type ApiClient = <R extends Route>(route: R, input: Input<R>, options?: AgentOptions) => Promise<Output<R>>

export type AgentOptions = {
  signal?: AbortSignal
  /** Body of a route that accepts binary data. */
  bytes?: Blob
  headers?: Readonly<Record<string, string>>
}

export type FetchLike = (path: string, init: RequestInit) => Promise<Response>

/** @param onUnreadable called with the number of list entries that were skipped because they could not be parsed */
export function createHttpApiClient(fetchLike: FetchLike, onUnreadable?: (count: number) => void): ApiClient {
  return async (route, input, { signal, bytes, headers } = {}) => {
    const { path, body = bytes } = buildRequest(route, input)
    const type = route.raw?.request ?? 'application/json'
    const response = await reach(fetchLike, path, {
      method: route.method,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    })
    const answer = await readJson(response, signal)
    if (!response.ok) throw toResponseError(response, answer)
    const read = parseResponse(route, answer)
    if (!read.success) {
      throw new AppError('internal/unexpected', `Unexpected response to “${route.summary}”.`, {
        cause: read.error,
      })
    }
    if (read.unreadable.length > 0) onUnreadable?.(read.unreadable.length)
    return read.answer
  }
}

async function reach(fetchLike: FetchLike, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchLike(path, init)
  } catch (cause) {
    if (init.signal?.aborted) throw cause
    throw createUnavailableError('Steward isn’t responding.', cause)
  }
}

async function readJson(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  let text: string
  try {
    text = await response.text()
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw createUnavailableError('Connection closed before the response was complete.', cause)
  }
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: the status or the schema check reports the error
  }
}

function createUnavailableError(message: string, cause: unknown): AppError {
  return new AppError('service/unavailable', message, { cause })
}

function toResponseError(response: Response, answer: unknown): AppError {
  const { error, code, detail } = readErrorFields(answer)
  const retryAfterSeconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
  return new AppError(
    parseErrorCode(code) ?? toErrorCode(response.status),
    typeof error === 'string' ? error : `Steward responded with status ${response.status}.`,
    {
      ...(typeof detail === 'string' && { detail }),
      ...(Number.isFinite(retryAfterSeconds) && { retryAfterSeconds }),
    },
  )
}

function readErrorFields(answer: unknown): { error?: unknown; code?: unknown; detail?: unknown } {
  return typeof answer === 'object' && answer !== null ? answer : {}
}

function toErrorCode(status: number) {
  if (status === 401) return 'auth/required'
  if (status === 403) return 'auth/forbidden'
  if (status === 404) return 'request/not-found'
  if (status === 502 || status === 503 || status === 504) return 'service/unavailable'
  return 'internal/unexpected'
}
