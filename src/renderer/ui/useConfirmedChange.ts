import { AppError } from '#shared/appError.ts'
import { useLocalStatus } from '../api/AgentProvider.tsx'
import { useSecurePrompt } from './securePromptContext.ts'
import { useUnlocked } from './useUnlocked.ts'

/**
 * Runs a change of what is allowed. What lets more through is confirmed where this window cannot draw: in a dialog of
 * the system, which the agent opens by itself, or in a browser on a secure prompt, which makes the change; `read` tells what
 * holds then.
 */
export function useConfirmedChange(): <T>(change: () => Promise<T>, read: () => Promise<T>) => Promise<T> {
  const openSecurePrompt = useSecurePrompt()
  const unlocked = useUnlocked()
  const isOnPrompt = useLocalStatus()?.shell !== 'electron'
  return async (change, read) => {
    try {
      return await unlocked(change)
    } catch (error) {
      if (!isOnPrompt || !(error instanceof AppError && error.code === 'policy/confirmation')) throw error
      if ((await openSecurePrompt({ purpose: 'confirm_policy' })) === 'cancelled') throw error
      return await read()
    }
  }
}
