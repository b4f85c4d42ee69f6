import { AppError } from '#shared/appError.ts'
import { useSecurePrompt } from './securePromptContext.ts'

/** Runs work that needs an unlocked wallet: if it is locked, asks the user to unlock it and retries. */
export function useUnlocked(): <T>(deed: () => Promise<T>) => Promise<T> {
  const openSecurePrompt = useSecurePrompt()
  return async (deed) => {
    try {
      return await deed()
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'wallet/locked')) throw error
      if ((await openSecurePrompt({ purpose: 'unlock' })) === 'cancelled') throw error
      return deed()
    }
  }
}
