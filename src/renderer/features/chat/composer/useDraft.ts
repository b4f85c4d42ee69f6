import { useEffect, useEffectEvent, useState } from 'react'
import { type Draft, readDraft, storeDraft } from './drafts.ts'

/** Written down a moment after the last key, and before the page or the composer goes. */
const pauseMs = 400

/** @param place the conversation, or `new`; the component is keyed by it */
export function useDraft(place: string) {
  const [draft, setDraft] = useState<Draft>(() => readDraft(place))
  const keep = useEffectEvent(() => storeDraft(place, draft))
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change begins the pause anew
  useEffect(() => {
    const timer = setTimeout(keep, pauseMs)
    return () => clearTimeout(timer)
  }, [draft])
  useEffect(() => {
    const flush = () => keep()
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      flush()
    }
  }, [])
  return [draft, setDraft] as const
}
