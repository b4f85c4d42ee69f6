import { AppError } from '#shared/appError.ts'
import { RegistrarFailure } from './registrars/registrar.ts'

const codes = {
  unreachable: 'domain/registrar',
  unclear: 'domain/unclear',
  taken: 'domain/taken',
  refused: 'domain/state',
  unsupported: 'domain/unsupported',
} as const

/** What the caller is told of a registrar that did not do it. */
export function toAppError(failure: unknown): unknown {
  if (!(failure instanceof RegistrarFailure)) return failure
  return new AppError(codes[failure.kind], failure.message, { cause: failure })
}

export async function told<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (failure) {
    throw toAppError(failure)
  }
}
