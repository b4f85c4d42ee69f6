import { useCallback, useSyncExternalStore } from 'react'

/** Equal to the token `--breakpoint-narrow`. */
export const narrowWindow = '(max-width: 719.98px)'

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
