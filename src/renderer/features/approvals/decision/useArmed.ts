import { useEffect, useState } from 'react'
import { watchSettling } from './settling.ts'

/**
 * Whether what is shown has stood still for a moment: false at first, after `shown` has changed, and after the window
 * came to the front. A page that makes a person click or type somewhere fast cannot have them approve what appears there.
 */
export function useArmed(contentKey: string): boolean {
  const [armed, setArmed] = useState<string>()
  useEffect(() => {
    const { disturb, end } = watchSettling((settled) => setArmed(settled ? contentKey : undefined))
    disturb()
    // The focus also comes back from a secure prompt's frame, which is a part of this window.
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
