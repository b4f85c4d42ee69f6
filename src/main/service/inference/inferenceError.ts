/**
 * What went wrong, in words that each dialect has its own form for.
 *
 * - `request`: the caller must change the request; `authentication`, `permission`, `model`, `too_large` likewise
 * - `credits`: the balance is too small
 * - `unconfigured`: no key for the provider
 * - `rate`, `overloaded`: try again later
 * - `upstream`: the provider failed, or sent what nobody can use
 */
export type FailureKind =
  | 'request'
  | 'authentication'
  | 'permission'
  | 'model'
  | 'too_large'
  | 'credits'
  | 'unconfigured'
  | 'rate'
  | 'overloaded'
  | 'upstream'
  | 'timeout'

export const failureStatus: Readonly<Record<FailureKind, number>> = {
  request: 400,
  authentication: 401,
  permission: 403,
  model: 404,
  too_large: 413,
  credits: 402,
  unconfigured: 503,
  rate: 429,
  overloaded: 503,
  upstream: 502,
  timeout: 504,
}

type Details = {
  /** For programs: `invalid_value`, `model_not_found`, or the provider's own. */
  code?: string | undefined
  /** The field that was wrong, as `messages[2].content`. */
  param?: string | undefined
  detail?: string | undefined
  retryAfter?: string | undefined
  /** Where the provider's status says more than the kind's. */
  status?: number | undefined
  cause?: unknown
}

/** A failure of a request to a model. The message is for the caller, and holds no key and no address of a provider. */
export class InferenceError extends Error {
  readonly kind: FailureKind
  readonly status: number
  readonly code: string | undefined
  readonly param: string | undefined
  readonly detail: string | undefined
  /** The header as the provider sent it: seconds or a date. */
  readonly retryAfter: string | undefined

  constructor(kind: FailureKind, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'InferenceError'
    this.kind = kind
    this.status = details.status ?? failureStatus[kind]
    this.code = details.code
    this.param = details.param
    this.detail = details.detail
    this.retryAfter = details.retryAfter
  }
}

export function badRequest(param: string, message: string, code = 'invalid_value'): InferenceError {
  return new InferenceError('request', message, { param, code })
}
