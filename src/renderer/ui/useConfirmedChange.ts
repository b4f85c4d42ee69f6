import { AppError } from '#shared/appError.ts'
import { useLocalStatus } from '../api/AgentProvider.tsx'
import { useSheet } from './sheetContext.ts'
import { useUnlocked } from './useUnlocked.ts'

/**
 * Runs a change of what is allowed. What lets more through is confirmed where this window cannot draw: in a dialog of
 * the system, which the agent opens by itself, or in a browser on a sheet, which makes the change; `read` tells what
 * holds then.
 */
export function useConfirmedChange(): <T>(change: () => Promise<T>, read: () => Promise<T>) => Promise<T> {
  const openSheet = useSheet()
  const unlocked = useUnlocked()
  const isOnSheet = useLocalStatus()?.shell !== 'electron'
  return async (change, read) => {
    try {
      return await unlocked(change)
    } catch (error) {
      if (!isOnSheet || !(error instanceof AppError && error.code === 'policy/confirmation')) throw error
      if ((await openSheet({ purpose: 'confirm_policy' })) === 'cancelled') throw error
      return await read()
    }
  }
}
