import { createContext, useContext, useEffect, useEffectEvent, useId, useState } from 'react'
import { usePlace } from '../place.ts'
import type { UnsavedMarks } from './unsavedMarks.ts'

/** Of the `UnsavedGuard` above. */
export const UnsavedContext = createContext<UnsavedMarks | undefined>(undefined)

/**
 * While `isUnsaved`, leaving `place` asks first. Without a guard above, nothing does.
 * @returns to be called when it is saved, where leaving comes at once after that
 */
export function useUnsaved(isUnsaved: boolean, place: readonly string[], onDiscard?: () => void): () => void {
  const marks = useContext(UnsavedContext)
  const owner = useId()
  const held = place.join('/')
  const discard = useEffectEvent(() => onDiscard?.())
  useEffect(() => {
    if (!marks || !isUnsaved) return
    marks.put(owner, held.split('/'), () => discard())
    return () => marks.remove(owner)
  }, [marks, owner, isUnsaved, held])
  return () => marks?.remove(owner)
}

/** For a form that keeps its own state: it is unsaved from the first thing that is typed until it is gone. */
export function useTouchedForm(): { onInput: () => void } {
  const [touched, setTouched] = useState(false)
  const [section = ''] = usePlace()
  const [place] = useState(section)
  useUnsaved(touched, [place])
  return { onInput: () => setTouched(true) }
}
