import type { AppError } from '#shared/appError.ts'

/** Result of a request to a sandbox. */
export type Ending =
  /** `status` is a wait(2) status. */
  | { kind: 'ended'; status: number }
  /** The command was not run, or the file or port could not be opened. */
  | { kind: 'failed'; stage: string; errno: number }
  | { kind: 'lost'; detail: string }
  /** The request could not be delivered. */
  | { kind: 'refused'; error: AppError }
