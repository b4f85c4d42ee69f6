import type { AppError } from '#shared/appError.ts'

/** Result of a request to a machine. */
export type Ending =
  /** `status` is what wait(2) says. */
  | { kind: 'ended'; status: number }
  /** The command was not run, or the file or port not reached. */
  | { kind: 'failed'; stage: string; errno: number }
  | { kind: 'lost'; detail: string }
  /** Nobody could be found to do it. */
  | { kind: 'refused'; error: AppError }
