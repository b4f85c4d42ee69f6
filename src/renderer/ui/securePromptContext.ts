import { createContext, useContext } from 'react'
import type { Input } from '#shared/contract/route.ts'
import type { openSecurePrompt } from '#shared/contract/wallet.ts'

export type SecurePromptRequest = Omit<Input<typeof openSecurePrompt>, 'theme'>
export type SecurePromptEnd = 'done' | 'cancelled'
/** Shows a secure prompt above all other content. Resolves when the user has completed or closed it. */
export type OpenSecurePrompt = (request: SecurePromptRequest) => Promise<SecurePromptEnd>

export const SecurePromptContext = createContext<OpenSecurePrompt | undefined>(undefined)

/** Returns the function that opens a secure prompt: `await openSecurePrompt({ purpose: 'unlock' })`. */
export function useSecurePrompt(): OpenSecurePrompt {
  const open = useContext(SecurePromptContext)
  if (!open) throw new Error('useSecurePrompt must be used within a SecurePromptProvider')
  return open
}
