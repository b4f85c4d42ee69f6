import { useSyncExternalStore } from 'react'
import { findFocus } from './shortcuts.ts'

/**
 * Whether a terminal has the focus, in which case most shortcuts are inactive. Does not use `body:has(…)`, because
 * browsers would re-evaluate such a rule on the whole page for each added or removed element.
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
