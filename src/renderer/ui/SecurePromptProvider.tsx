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
  const [pending, setPending] = useState<PendingPrompt>()
  const [open] = useState(() => createOpener(setPending))
  const end = (how: SecurePromptEnd) => {
    pending?.settle(how)
    setPending((present) => (present === pending ? undefined : present))
  }
  return (
    <SecurePromptContext value={open}>
      {children}
      {pending && <SecurePromptDialog key={pending.id} request={pending.request} onEnd={end} />}
    </SecurePromptContext>
  )
}

function createOpener(setOpenPrompt: Dispatch<SetStateAction<PendingPrompt | undefined>>): OpenSecurePrompt {
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
