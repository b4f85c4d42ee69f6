import { AppError, type ErrorCode } from '#shared/appError.ts'
import type { ChatFailure, ChatFix } from '#shared/contract/chatMessages.ts'

const fixes: Partial<Record<ErrorCode, ChatFix>> = {
  'inference/unconfigured': 'provider_key',
  'inference/provider-key': 'replace_key',
  'inference/credits': 'credits',
  'credits/insufficient': 'credits',
  'credits/daily-limit': 'credits',
  'budget/exceeded': 'limit',
  'inference/rate': 'retry',
  'inference/overloaded': 'retry',
  'inference/upstream': 'retry',
  'inference/timeout': 'retry',
  'service/unavailable': 'retry',
  'inference/model': 'model',
  'inference/forbidden': 'model',
  'chat/model': 'model',
  'inference/too-large': 'shorten',
  'chat/too-long': 'shorten',
}

/** Converts an error to the form stored in a message: the cause and the remedy. */
export function toMessageError(error: unknown): ChatFailure {
  const appError = error instanceof AppError ? error : createUnexpectedError(error)
  const { code, message, detail, hint, retryAfterSeconds } = appError
  const wait = retryAfterSeconds === undefined ? hint : `Try again in ${retryAfterSeconds} s.`
  const fix = appError.fields.reason === 'context_length_exceeded' ? 'shorten' : (fixes[code] ?? null)
  return { code, message: detail === undefined ? message : `${message}: ${detail}`, hint: wait, fix }
}

function createUnexpectedError(cause: unknown): AppError {
  return new AppError('internal/unexpected', 'Something unexpected went wrong.', { cause })
}
