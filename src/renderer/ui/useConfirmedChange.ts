import { AppError } from '#shared/appError.ts'
import { useLocalStatus } from '../api/AgentProvider.tsx'
import { useSecurePrompt } from './securePromptContext.ts'
import { useUnlocked } from './useUnlocked.ts'

/**
 * Runs a change of permissions. A change that allows more requires confirmation outside this window's control: in
 * Electron, in a system dialog opened by the agent; in a browser, on a secure prompt, which applies the change itself.
 * In the latter case, `read` returns the resulting state.
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
