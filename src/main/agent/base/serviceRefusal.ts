import { AppError, type ErrorCode, parseErrorCode } from '#shared/appError.ts'

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  400: 'inference/request',
  401: 'inference/credential',
  402: 'inference/credits',
  403: 'inference/forbidden',
  404: 'inference/model',
  413: 'inference/too-large',
  429: 'inference/rate',
  503: 'inference/overloaded',
  504: 'inference/timeout',
}
/** Error codes by the service's reasons, as named by its model endpoints. */
const codeByReason: Readonly<Record<string, ErrorCode>> = {
  provider_not_configured: 'inference/unconfigured',
  insufficient_credits: 'inference/credits',
  model_not_found: 'inference/model',
  rate_limit_error: 'inference/rate',
  insufficient_quota: 'inference/credits',
  provider_401: 'inference/provider-key',
  provider_403: 'inference/provider-key',
}

type ErrorFields = { error?: unknown; code?: unknown; detail?: unknown }

/** Converts an error response of the service, in either of its two formats. */
export function toServiceError(status: number, answer: unknown, retryAfter?: string): AppError {
  const { error, code, detail } = readFields(answer)
  if (typeof error === 'object' && error !== null) return toModelError({ status, error, detail, retryAfter })
  const errorCode = parseErrorCode(code) ?? (status >= 500 ? 'service/unavailable' : 'request/invalid')
  return new AppError(errorCode, typeof error === 'string' ? error : `The service responded with status ${status}.`, {
    ...(typeof detail === 'string' && { detail }),
  })
}

type ErrorResponse = { status: number | undefined; error: object; detail?: unknown; retryAfter?: string | undefined }

/**
 * Converts an error in OpenAI's format: `{"error": {"message", "type", "code", "param"}}`. The error may also occur
 * mid-stream, without a status.
 */
export function toModelError({ status, error, detail, retryAfter }: ErrorResponse): AppError {
  const { message, code, type } = error as { message?: unknown; code?: unknown; type?: unknown }
  const reason = [code, type].find((word) => typeof word === 'string' && Object.hasOwn(codeByReason, word))
  const errorCode =
    parseErrorCode(code) ??
    (typeof reason === 'string' ? codeByReason[reason] : undefined) ??
    (status === undefined ? undefined : codeByStatus[status])
  const seconds = Number(retryAfter)
  return new AppError(errorCode ?? 'inference/upstream', toSentence(message, status), {
    ...(typeof detail === 'string' && { detail }),
    ...(retryAfter !== undefined && seconds > 0 && { retryAfterSeconds: Math.ceil(seconds) }),
    fields: { ...(typeof code === 'string' && { reason: code }) },
  })
}

function toSentence(message: unknown, status: number | undefined): string {
  if (typeof message === 'string' && message.trim() !== '') return message.slice(0, 2_000)
  return status === undefined ? 'The response ended early.' : `The service responded with status ${status}.`
}

function readFields(answer: unknown): ErrorFields {
  return typeof answer === 'object' && answer !== null ? answer : {}
}
