import { expect, test } from 'vitest'
import { AppError, type ErrorEntry, errorCatalogue, parseErrorCode } from './appError.ts'

test('sends a renamed error with its former code', () => {
  expect(new AppError('purchase/seller', 'The seller did not respond.').toBody()).toEqual({
    error: 'The seller did not respond.',
    code: 'purchase/seller',
    former_code: 'payment/seller',
    hint: 'Nothing was paid. Check the address, or try again later.',
  })
  expect(new AppError('payments/unknown', 'Unknown.').toBody()).not.toHaveProperty('former_code')
})

test('parses current and former codes and rejects others', () => {
  expect(parseErrorCode('order/unknown-outcome')).toBe('order/unknown-outcome')
  expect(parseErrorCode('domain/unclear')).toBe('order/unknown-outcome')
  for (const value of ['toString', '__proto__', 'order/none', '', undefined, 7]) {
    expect(parseErrorCode(value)).toBeUndefined()
  }
})

test('maps each former code to one error and never reuses a current code', () => {
  const formerCodes = Object.values<ErrorEntry>(errorCatalogue).flatMap(({ formerCode }) => formerCode ?? [])
  expect(new Set(formerCodes).size).toBe(formerCodes.length)
  expect(formerCodes.filter((code) => Object.hasOwn(errorCatalogue, code))).toEqual([])
})
