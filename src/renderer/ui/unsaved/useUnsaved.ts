import { createContext, useContext, useEffect, useEffectEvent, useId, useState } from 'react'
import { useRoute } from '../route.ts'
import type { UnsavedMarks } from './unsavedMarks.ts'

/** Provided by `UnsavedGuard`. */
export const UnsavedContext = createContext<UnsavedMarks | undefined>(undefined)

/**
 * While `isUnsaved`, leaving `place` asks first. Without a guard above, nothing does.
 * @returns to be called when it is saved, where leaving comes at once after that
 */
export function useUnsaved(isUnsaved: boolean, place: readonly string[], onDiscard?: () => void): () => void {
  const marks = useContext(UnsavedContext)
  const owner = useId()
  const key = place.join('/')
  const discard = useEffectEvent(() => onDiscard?.())
  useEffect(() => {
    if (!marks || !isUnsaved) return
    marks.put(owner, key.split('/'), () => discard())
    return () => marks.remove(owner)
  }, [marks, owner, isUnsaved, key])
  return () => marks?.remove(owner)
}

/** Marks a form that holds its own state as unsaved from its first input until it unmounts. */
export function useTouchedForm(): { onInput: () => void } {
  const [section = ''] = useRoute()
  /** Section that was in view at the first input. */
  const [touchedIn, setTouchedIn] = useState<string>()
  useUnsaved(touchedIn !== undefined, [touchedIn ?? section])
  return { onInput: () => setTouchedIn((prev) => prev ?? section) }
}
