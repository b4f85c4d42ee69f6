import { AppError, type ErrorCode } from '#shared/appError.ts'

/**
 * Kind of an error, which each dialect formats in its own way.
 * - `request`: the caller must change the request; the same applies to `authentication`, `permission`, `model`,
 * `too_large`
 * - `credits`: the balance is too small
 * - `unconfigured`: no key for the provider
 * - `rate`, `overloaded`: retry later
 * - `upstream`: the provider failed or sent an unusable response
 */
export type InferenceErrorKind =
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

const codes: Readonly<Record<InferenceErrorKind, ErrorCode>> = {
  request: 'inference/request',
  authentication: 'inference/credential',
  permission: 'inference/forbidden',
  model: 'inference/model',
  too_large: 'inference/too-large',
  credits: 'inference/credits',
  unconfigured: 'inference/unconfigured',
  rate: 'inference/rate',
  overloaded: 'inference/overloaded',
  upstream: 'inference/upstream',
  timeout: 'inference/timeout',
}

type Details = {
  /** Machine-readable reason: `invalid_value`, `model_not_found`, or the provider's own code. */
  reason?: string | undefined
  /** Invalid field, such as `messages[2].content`. */
  param?: string | undefined
  detail?: string | undefined
  retryAfter?: string | undefined
  /** Overrides the status of the kind when the provider's is more specific. */
  status?: number | undefined
  cause?: unknown
}

/** Error of a model request. The message is shown to the caller, so it must not contain a provider's key or URL. */
export class InferenceError extends AppError {
  readonly kind: InferenceErrorKind
  readonly reason: string | undefined
  readonly param: string | undefined
  /** Header as sent by the provider: seconds or a date. */
  readonly retryAfter: string | undefined
  readonly #status: number | undefined

  constructor(
    kind: InferenceErrorKind,
    message: string,
    { reason, param, detail, retryAfter, status, cause }: Details = {},
  ) {
    super(codes[kind], message, {
      ...(cause !== undefined && { cause }),
      ...(detail !== undefined && { detail }),
      ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }),
    })
    this.name = 'InferenceError'
    this.kind = kind
    this.reason = reason
    this.param = param
    this.retryAfter = retryAfter
    this.#status = status
  }

  override get status(): number {
    return this.#status ?? super.status
  }
}

export function createBadRequestError(param: string, message: string, reason = 'invalid_value'): InferenceError {
  return new InferenceError('request', message, { param, reason })
}

export function createUnknownModelError(name: string): InferenceError {
  const message = `The model ${JSON.stringify(name.slice(0, 128))} does not exist. GET /v1/models lists the available models.`
  return new InferenceError('model', message, { reason: 'model_not_found', param: 'model' })
}

const errorKindByStatus: Readonly<Record<number, InferenceErrorKind>> = {
  400: 'request',
  401: 'authentication',
  402: 'credits',
  403: 'permission',
  404: 'model',
  413: 'too_large',
  429: 'rate',
  503: 'overloaded',
}

/**
 * Converts an error of Steward, such as a missing key, invalid JSON or insufficient credits, so that a dialect can
 * format it.
 */
export function toInferenceError(error: AppError): InferenceError {
  if (error instanceof InferenceError) return error
  const { status, message, detail, code } = error
  // Messages about a field begin with its name.
  const param = /^`([^`]+)` /.exec(message)?.[1]
  const kind = errorKindByStatus[status] ?? (status < 500 ? 'request' : 'upstream')
  return new InferenceError(kind, message, { detail, param, reason: code, status, cause: error })
}
