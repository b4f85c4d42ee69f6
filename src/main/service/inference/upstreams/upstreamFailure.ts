import { parseJson } from '#platform/parsing/boundedJson.ts'
import { InferenceError, type InferenceErrorKind } from '../inferenceError.ts'
import { getObject, getString, toJsonObject } from '../json.ts'
import type { UpstreamErrorResponse } from './upstream.ts'

/**
 * Converts a provider's error response. All five have a message at `error.message`. Errors that the caller can correct
 * retain their status. A rejected key is Steward's configuration error, so it never becomes a 401 for the caller.
 */
export function toUpstreamError({ status, body, retryAfter }: UpstreamErrorResponse): InferenceError {
  const { message, code } = parseError(body)
  const kind = getKind(status)
  if (status === 401 || status === 403 || status === 402) {
    const why = status === 402 ? 'requires payment' : 'rejected its API key'
    return new InferenceError('upstream', `The provider ${why}.`, { reason: `provider_${status}`, retryAfter })
  }
  return new InferenceError(kind, message ?? `The provider responded with status ${status}.`, {
    reason: code,
    retryAfter,
    status: kind === 'upstream' || kind === 'overloaded' ? undefined : status,
  })
}

function getKind(status: number): InferenceErrorKind {
  if (status === 404) return 'model'
  if (status === 413) return 'too_large'
  if (status === 429) return 'rate'
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 400 && status < 500 ? 'request' : 'upstream'
}

const maxMessageChars = 2_000

function parseError(body: string): { message: string | undefined; code: string | undefined } {
  let parsed: unknown
  try {
    parsed = parseJson(body)
  } catch {
    return { message: undefined, code: undefined }
  }
  // Google wraps errors of its streams in a list.
  const first = Array.isArray(parsed) ? parsed[0] : parsed
  const error = toJsonObject(toJsonObject(first)?.error) ?? toJsonObject(first)
  const message =
    getString(error, 'message') ?? getString(first, 'error') ?? getString(getObject(first, 'detail'), 'message')
  const code = getString(error, 'code') ?? getString(error, 'status') ?? getString(error, 'type')
  return { message: message?.slice(0, maxMessageChars), code }
}
