import { AppError, type ErrorCode } from '#shared/appError.ts'

/** The last two come from the service, which is called without a key if there is no session. */
const sessionCodes: readonly ErrorCode[] = ['auth/session', 'auth/required', 'auth/invalid']

/** Whether a call failed because the window has no session or the session has ended. */
export function isSessionLost(error: unknown): boolean {
  return error instanceof AppError && sessionCodes.some((code) => code === error.code)
}
