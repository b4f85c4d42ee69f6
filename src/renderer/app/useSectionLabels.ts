import { useEffect, useState } from 'react'
import { z } from 'zod'
import { persistValue } from '../storage/persistValue.ts'
import { usePersisted } from '../storage/usePersisted.ts'
import { useRoute } from '../ui/route.ts'

const storedLabels = persistValue('steward.section-labels', z.enum(['shown', 'hidden']), 'hidden')

export type SectionLabels = { visible: boolean; toggle(): void }

/**
 * Returns whether section labels are shown. In a wide window the choice is persisted; in a narrow one labels close
 * after a section is selected.
 */
export function useSectionLabels(isNarrow: boolean): SectionLabels {
  const isVisible = usePersisted(storedLabels) === 'shown'
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [section] = useRoute()
  useEffect(() => {
    if (section !== undefined || !isNarrow) setMenuOpen(false)
  }, [section, isNarrow])
  return isNarrow
    ? { visible: isMenuOpen, toggle: () => setMenuOpen(!isMenuOpen) }
    : {
        visible: isVisible,
        toggle: () => storedLabels.write(isVisible ? 'hidden' : 'shown'),
      }
}
