import { AppError, type ErrorCode } from '#shared/appError.ts'
import { type Problem, WrongField } from './securePromptStep.ts'

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

export type DescribeProblem = (error: unknown) => Problem

/** Converts an error to the message of a page. Unexpected ones go to `onUnexpected`. */
export function createProblemReader(onUnexpected: (error: unknown) => void): DescribeProblem {
  return (error) => {
    if (error instanceof WrongField) return { message: error.message, hint: undefined, field: error.field }
    if (error instanceof AppError && error.code !== 'internal/unexpected') {
      return { message: error.message, hint: error.hint, field: fields[error.code] }
    }
    onUnexpected(error)
    return { message: 'Something went wrong in Steward.', hint: 'Nothing was changed. Try again.', field: undefined }
  }
}
