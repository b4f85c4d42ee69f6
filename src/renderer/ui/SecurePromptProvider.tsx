import { type Dispatch, type ReactNode, type SetStateAction, useState } from 'react'
import { SecurePromptDialog } from './SecurePromptDialog.tsx'
import {
  type OpenSecurePrompt,
  SecurePromptContext,
  type SecurePromptEnd,
  type SecurePromptRequest,
} from './securePromptContext.ts'

type PendingPrompt = { id: number; request: SecurePromptRequest; settle: (end: SecurePromptEnd) => void }

/** Shows one secure prompt at a time. */
export function SecurePromptProvider({ children }: { children: ReactNode }) {
  const [openSecurePrompt, setOpenPrompt] = useState<PendingPrompt>()
  const [open] = useState(() => opener(setOpenPrompt))
  const end = (how: SecurePromptEnd) => {
    openSecurePrompt?.settle(how)
    setOpenPrompt((present) => (present === openSecurePrompt ? undefined : present))
  }
  return (
    <SecurePromptContext value={open}>
      {children}
      {openSecurePrompt && (
        <SecurePromptDialog key={openSecurePrompt.id} request={openSecurePrompt.request} onEnd={end} />
      )}
    </SecurePromptContext>
  )
}

function opener(setOpenPrompt: Dispatch<SetStateAction<PendingPrompt | undefined>>): OpenSecurePrompt {
  let id = 0
  return (request) =>
    new Promise<SecurePromptEnd>((settle) => {
      id += 1
      const next = { id, request, settle }
      setOpenPrompt((before) => {
        before?.settle('cancelled')
        return next
      })
    })
}
