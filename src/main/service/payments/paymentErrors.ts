import { AppError } from '#shared/appError.ts'
import { alreadyUsed } from './facilitator.ts'

const retryAfterSeconds = 5

export function createUnknownOutcomeError(message: string): AppError {
  return new AppError('payments/unknown', message, { retryAfterSeconds })
}

export function createUnconfiguredError(): AppError {
  return new AppError('payments/unconfigured', 'This service does not accept payments.')
}

export function createInFlightError(): AppError {
  const headers = { 'retry-after': '1' }
  return new AppError('payments/in-flight', 'This payment is being settled for another copy of the request.', {
    headers,
  })
}

export function createAlreadyUsedError(): AppError {
  return new AppError('payments/used', 'This payment was used for another request.', { detail: alreadyUsed.message })
}
