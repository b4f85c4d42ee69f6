import { useEffect, useState } from 'react'
import { z } from 'zod'
import { usePlace } from '../ui/place.ts'
import { persisted } from '../ui/storage/persisted.ts'
import { usePersisted } from '../ui/storage/usePersisted.ts'

const storedLabels = persisted('steward.section-labels', z.enum(['shown', 'hidden']), 'hidden')

export type SectionLabels = { shown: boolean; toggle(): void }

/** Whether the sections show their names: as the person left it; in a narrow window only until one is chosen. */
export function useSectionLabels(isNarrow: boolean): SectionLabels {
  const isShown = usePersisted(storedLabels) === 'shown'
  const [asked, setAsked] = useState(false)
  const [section] = usePlace()
  useEffect(() => {
    if (section !== undefined || !isNarrow) setAsked(false)
  }, [section, isNarrow])
  return isNarrow
    ? { shown: asked, toggle: () => setAsked(!asked) }
    : {
        shown: isShown,
        toggle: () => storedLabels.write(isShown ? 'hidden' : 'shown'),
      }
}
