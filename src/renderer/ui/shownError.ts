import { AppError } from '../../shared/appError.ts'

/** A failure in a person's words: what was wrong, and what to do. */
export function shownError(error: unknown): { message: string; hint: string; detail: string | undefined } {
  if (error instanceof AppError && error.code === 'sandbox/not-found') {
    return { message: 'This sandbox was deleted.', hint: 'Choose another one.', detail: undefined }
  }
  if (error instanceof AppError) return { message: error.message, hint: error.hint, detail: error.detail }
  const message = error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.'
  return { message, hint: 'Try again, or reload the window.', detail: undefined }
}
