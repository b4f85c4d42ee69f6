import { expect, test } from 'vitest'
import { toModelError, toServiceError } from '../base/serviceRefusal.ts'
import { toMessageError } from '../chat/chatFailure.ts'

const refusal = (status: number, error: object, detail?: string) => toServiceError(status, { error, detail }, '7')

test.each([
  [
    503,
    { message: 'No key.', type: 'service_unavailable', code: 'provider_not_configured' },
    'inference/unconfigured',
    'provider_key',
  ],
  [503, { message: 'Busy.', type: 'server_error', code: null }, 'inference/overloaded', 'retry'],
  [
    402,
    { message: 'Insufficient credits', type: 'insufficient_quota', code: 'insufficient_credits' },
    'inference/credits',
    'credits',
  ],
  [
    401,
    { message: 'Wrong key.', type: 'authentication_error', code: 'inference/provider-key' },
    'inference/provider-key',
    'replace_key',
  ],
  [
    402,
    { message: 'Too much today.', type: 'insufficient_quota', code: 'credits/daily-limit' },
    'credits/daily-limit',
    'credits',
  ],
  [429, { message: 'Slow down.', type: 'rate_limit_error', code: null }, 'inference/rate', 'retry'],
  [404, { message: 'Unknown.', type: 'invalid_request_error', code: 'model_not_found' }, 'inference/model', 'model'],
  [
    400,
    { message: 'Too long.', type: 'invalid_request_error', code: 'context_length_exceeded' },
    'inference/request',
    'shorten',
  ],
  [502, { message: 'Broken.', type: 'server_error', code: null }, 'inference/upstream', 'retry'],
])('%i %j maps to %s', (status, error, code, fix) => {
  const failure = refusal(status, error)
  expect(failure.code).toBe(code)
  expect(toMessageError(failure)).toMatchObject({ code, fix, message: error.message })
})

test('maps a mid-stream error without a status', () => {
  expect(toModelError({ status: undefined, error: { message: 'Broken.' } }).code).toBe('inference/upstream')
  expect(toModelError({ status: undefined, error: { type: 'rate_limit_error' } })).toMatchObject({
    code: 'inference/rate',
    message: 'The response ended early.',
  })
})

test('turns any error body into a sentence of bounded length', () => {
  expect(refusal(500, { message: { a: 1 }, code: ['x'], type: 'constructor' })).toMatchObject({
    code: 'inference/upstream',
    message: 'The service responded with status 500.',
  })
  expect(refusal(400, { message: 'x'.repeat(1e6) }).message).toHaveLength(2_000)
  expect(toServiceError(500, 'text')).toMatchObject({ code: 'service/unavailable' })
})
