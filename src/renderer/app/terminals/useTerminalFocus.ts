import { useState } from 'react'

/** Request to focus the terminal in view. */
export type TerminalFocus = {
  isRequested: boolean
  request(): void
  /** Completes the request. */
  onFocused(): void
}

export function useTerminalFocus(): TerminalFocus {
  const [isRequested, setIsRequested] = useState(true)
  return {
    isRequested,
    request: () => setIsRequested(true),
    onFocused: () => setIsRequested(false),
  }
}
