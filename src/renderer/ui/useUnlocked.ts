import { AppError } from '#shared/appError.ts'
import { useSheet } from './sheetContext.ts'

/** Runs what needs the wallet unlocked: where it is locked, the person unlocks it, and it is run again. */
export function useUnlocked(): <T>(deed: () => Promise<T>) => Promise<T> {
  const openSheet = useSheet()
  return async (deed) => {
    try {
      return await deed()
    } catch (failure) {
      if (!(failure instanceof AppError && failure.code === 'wallet/locked')) throw failure
      if ((await openSheet({ purpose: 'unlock' })) === 'cancelled') throw failure
      return deed()
    }
  }
}
