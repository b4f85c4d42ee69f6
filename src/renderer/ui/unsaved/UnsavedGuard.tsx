import { createContext, type ReactNode, useContext, useEffect, useId, useState } from 'react'
import { ConfirmDialog } from '../ConfirmDialog.tsx'
import { usePlace } from '../place.ts'
import { type UnsavedMarks, unsavedMarks } from './unsavedMarks.ts'

const Marks = createContext<UnsavedMarks | undefined>(undefined)

/** Asks before what is not saved is lost: by going elsewhere in the window, or by closing it. */
export function UnsavedGuard({ children }: { children: ReactNode }) {
  const [marks] = useState(unsavedMarks)
  const [wanted, setWanted] = useState<string>()
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (marks.any()) event.preventDefault()
    }
    const hold = (event: Event) => {
      const hash = isWithin(event) ? new URL(event.destination.url).hash : undefined
      if (hash === undefined || !event.cancelable || !marks.loses(hash)) return
      event.preventDefault()
      setWanted(hash)
    }
    const { navigation } = window as { navigation?: EventTarget }
    window.addEventListener('beforeunload', warn)
    navigation?.addEventListener('navigate', hold)
    return () => {
      window.removeEventListener('beforeunload', warn)
      navigation?.removeEventListener('navigate', hold)
    }
  }, [marks])
  return (
    <Marks value={marks}>
      {children}
      <ConfirmDialog
        open={wanted !== undefined}
        onOpenChange={() => setWanted(undefined)}
        title="Leave without saving?"
        description="Your changes here are lost."
        confirmLabel="Leave"
        cancelLabel="Stay"
        onConfirm={async () => {
          marks.clear()
          window.location.hash = wanted ?? ''
        }}
      />
    </Marks>
  )
}

/**
 * While `isUnsaved`, leaving `place` asks first. Without a guard above, nothing does.
 * @returns to be called when it is saved, where leaving comes at once after that
 */
export function useUnsaved(isUnsaved: boolean, place: readonly string[]): () => void {
  const marks = useContext(Marks)
  const owner = useId()
  const held = place.join('/')
  useEffect(() => {
    if (!marks || !isUnsaved) return
    marks.put(owner, held.split('/'))
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

/** A navigation within the page, in browsers that tell of it before it happens. */
function isWithin(event: Event): event is Event & { destination: { url: string } } {
  return 'hashChange' in event && event.hashChange === true && 'destination' in event
}
