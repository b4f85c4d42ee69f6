import { createContext, useContext, useEffect, useEffectEvent, useId, useState } from 'react'
import { useRoute } from '../route.ts'
import type { UnsavedMarks } from './unsavedMarks.ts'

/** Provided by `UnsavedGuard`. */
export const UnsavedContext = createContext<UnsavedMarks | undefined>(undefined)

/**
 * Asks for confirmation before the user leaves `place` while `isUnsaved`. Has no effect without an `UnsavedGuard`.
 * @returns a function to call after saving, if navigation follows immediately
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

/** Marks an uncontrolled form as unsaved from its first input until it unmounts. */
export function useTouchedForm(): { onInput: () => void } {
  const [section = ''] = useRoute()
  /** Section that was shown at the first input. */
  const [touchedIn, setTouchedIn] = useState<string>()
  useUnsaved(touchedIn !== undefined, [touchedIn ?? section])
  return { onInput: () => setTouchedIn((prev) => prev ?? section) }
}
