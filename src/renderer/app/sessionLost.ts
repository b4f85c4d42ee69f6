import { AppError } from '../../shared/appError.ts'

/** Whether a call failed because this window has no session, or no longer one. */
export function isSessionLost(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'auth/required' || error.code === 'auth/invalid')
}
