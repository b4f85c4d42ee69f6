import { createContext, useContext } from 'react'
import type { Input } from '#shared/contract/route.ts'
import type { openSecurePrompt } from '#shared/contract/wallet.ts'

export type SecurePromptRequest = Omit<Input<typeof openSecurePrompt>, 'theme'>
export type SecurePromptEnd = 'done' | 'cancelled'
/** Shows a secure prompt over everything else; resolves when the user has finished or closed it. */
export type OpenSecurePrompt = (request: SecurePromptRequest) => Promise<SecurePromptEnd>

export const SecurePromptContext = createContext<OpenSecurePrompt | undefined>(undefined)

/** `const openSecurePrompt = useSecurePrompt()`, then `await openSecurePrompt({ purpose: 'unlock' })`. */
export function useSecurePrompt(): OpenSecurePrompt {
  const open = useContext(SecurePromptContext)
  if (!open) throw new Error('useSecurePrompt needs a SecurePromptProvider above it')
  return open
}
