import { useEffect, useState } from 'react'
import { usePlace } from '../ui/place.ts'

const storageKey = 'steward.section-labels'

export type SectionLabels = { shown: boolean; toggle(): void }

/** Whether the sections show their names: as the person left it; in a narrow window only until one is chosen. */
export function useSectionLabels(isNarrow: boolean): SectionLabels {
  const [kept, setKept] = useState(() => localStorage.getItem(storageKey) === 'shown')
  const [asked, setAsked] = useState(false)
  const [section] = usePlace()
  useEffect(() => {
    if (section !== undefined || !isNarrow) setAsked(false)
  }, [section, isNarrow])
  return isNarrow
    ? { shown: asked, toggle: () => setAsked(!asked) }
    : {
        shown: kept,
        toggle() {
          localStorage.setItem(storageKey, kept ? 'hidden' : 'shown')
          setKept(!kept)
        },
      }
}
