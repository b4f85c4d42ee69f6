import { useSyncExternalStore } from 'react'
import { findFocus } from './shortcuts.ts'

/**
 * Whether a terminal has the focus, when most keys are not Steward's. Not by `body:has(…)`: with such a rule a browser
 * looks through the whole page after each element that comes or goes anywhere in it.
 */
export function useTypingInTerminal(): boolean {
  return useSyncExternalStore(subscribe, isTyping)
}

function subscribe(listener: () => void): () => void {
  document.addEventListener('focusin', listener)
  document.addEventListener('focusout', listener)
  return () => {
    document.removeEventListener('focusin', listener)
    document.removeEventListener('focusout', listener)
  }
}

function isTyping(): boolean {
  return findFocus(document.activeElement) === 'terminal'
}
