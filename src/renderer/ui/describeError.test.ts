import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { describeError } from './describeError.ts'

test('describes not-found errors without identifiers and links to the list', () => {
  const message = describeError(new AppError('purchase/not-found', 'There is no payment pay_000.'))
  expect(message).toEqual({
    message: 'This payment doesn’t exist.',
    hint: '',
    detail: undefined,
    link: { label: 'Show payments', href: '#/payments' },
    mayRetry: false,
  })
})

test('omits hints that name an API call', () => {
  expect(describeError(new AppError('wallet/account-not-found', 'No such account.'))).toMatchObject({
    message: 'No such account.',
    hint: '',
    mayRetry: false,
  })
  expect(describeError(new AppError('chat/attachment-not-found', 'No such file.')).hint).toBe('Attach the file again.')
})

test('keeps the message of other errors and allows a retry', () => {
  expect(describeError(new AppError('service/unavailable', 'Not there.'))).toMatchObject({
    message: 'Not there.',
    mayRetry: true,
  })
  expect(describeError(new Error('Broken'))).toMatchObject({ message: 'Broken', mayRetry: true })
  expect(describeError('?').message).toBe('Something went wrong.')
})
