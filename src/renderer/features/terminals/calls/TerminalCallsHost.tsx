import { type ReactNode, useEffect, useState } from 'react'
import { createAttentionRequests, TerminalCallsContext } from '#renderer/api/terminals/attentionRequests.ts'

/** Provides the requests for attention from programs. Mounted once per window. */
export function TerminalCallsHost({ children }: { children: ReactNode }) {
  const [calls] = useState(() => createAttentionRequests({ isWindowInFront: () => document.hasFocus() }))
  useEffect(() => {
    window.addEventListener('focus', calls.looked)
    return () => window.removeEventListener('focus', calls.looked)
  }, [calls])
  return <TerminalCallsContext value={calls}>{children}</TerminalCallsContext>
}
