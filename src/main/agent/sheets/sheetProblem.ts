import { AppError, type ErrorCode } from '#shared/appError.ts'
import { type Problem, WrongField } from './sheetStep.ts'

/** In which field a person can set right what the wallet refused. */
const fields: Partial<Record<ErrorCode, string>> = {
  'wallet/passphrase': 'passphrase',
  'wallet/passphrase-weak': 'new_passphrase', // or `password`, on the page that has that
  'wallet/phrase': 'phrase',
  'wallet/private-key': 'private_key',
  'wallet/keystore': 'keystore',
  'wallet/confirmation': 'typed_label',
  'provider-key/invalid': 'api_key',
}

export type ProblemOf = (failure: unknown) => Problem

/** A failure in the words of a page. What nobody foresaw is told to `onUnexpected`. */
export function problemOf(onUnexpected: (failure: unknown) => void): ProblemOf {
  return (failure) => {
    if (failure instanceof WrongField) return { message: failure.message, hint: undefined, field: failure.field }
    if (failure instanceof AppError && failure.code !== 'internal/unexpected') {
      return { message: failure.message, hint: failure.hint, field: fields[failure.code] }
    }
    onUnexpected(failure)
    return { message: 'Something went wrong in Steward.', hint: 'Nothing was changed. Try again.', field: undefined }
  }
}
