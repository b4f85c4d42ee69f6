import { AppError, type ErrorCode } from '#shared/appError.ts'

/** The last two are the service's, which is asked without a key when there is no session. */
const sessionCodes: readonly ErrorCode[] = ['auth/session', 'auth/required', 'auth/invalid']

/** Whether a call failed because this window has no session, or no longer one. */
export function isSessionLost(error: unknown): boolean {
  return error instanceof AppError && sessionCodes.some((code) => code === error.code)
}
