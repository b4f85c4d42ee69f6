import { AppError } from '#shared/appError.ts'
import { RegistrarError } from './registrars/registrar.ts'

const codes = {
  unreachable: 'domain/registrar',
  unclear: 'order/unknown-outcome',
  taken: 'domain/taken',
  refused: 'domain/state',
  unsupported: 'domain/unsupported',
} as const

/** Converts a registrar's error to one for the caller. */
export function toAppError(error: unknown): unknown {
  if (!(error instanceof RegistrarError)) return error
  return new AppError(codes[error.kind], error.message, { cause: error })
}

export async function mapRegistrarErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw toAppError(error)
  }
}
