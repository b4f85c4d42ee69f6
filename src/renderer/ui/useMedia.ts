import { useCallback, useSyncExternalStore } from 'react'

/** As `--breakpoint-narrow` of the tokens. */
export const narrowWindow = '(max-width: 719.98px)'

/** Whether a media query fits now. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = window.matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches)
}
