import { useEffect, useState } from 'react'
import { watchSettling } from './settling.ts'

/**
 * Whether the content has been unchanged and visible for a moment. False initially, after `contentKey` changes, and
 * after the window regains focus. This protects against pages that trick the user into clicking or typing quickly.
 */
export function useArmed(contentKey: string): boolean {
  const [armed, setArmed] = useState<string>()
  useEffect(() => {
    const { disturb, end } = watchSettling((settled) => setArmed(settled ? contentKey : undefined))
    disturb()
    // Focus may also return from the frame of a secure prompt, which belongs to this window.
    let wasInFrame = false
    const onBlur = () => {
      wasInFrame = document.activeElement instanceof HTMLIFrameElement
    }
    const onFocus = () => {
      if (!wasInFrame) disturb()
      wasInFrame = false
    }
    window.addEventListener('blur', onBlur)
    window.addEventListener('focus', onFocus)
    document.addEventListener('visibilitychange', disturb)
    return () => {
      end()
      window.removeEventListener('blur', onBlur)
      window.removeEventListener('focus', onFocus)
      document.removeEventListener('visibilitychange', disturb)
    }
  }, [contentKey])
  return armed === contentKey
}
