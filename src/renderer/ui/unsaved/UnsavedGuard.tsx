import { type ReactNode, useEffect, useState } from 'react'
import { ConfirmDialog } from '../ConfirmDialog.tsx'
import { createUnsavedMarks } from './unsavedMarks.ts'
import { UnsavedContext } from './useUnsaved.ts'

/** Asks for confirmation before unsaved changes are lost by navigating within the window or by closing it. */
export function UnsavedGuard({ children }: { children: ReactNode }) {
  const [marks] = useState(createUnsavedMarks)
  const [nextRoute, setNextRoute] = useState<string>()
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (marks.any()) event.preventDefault()
    }
    const hold = (event: Event) => {
      const hash = isWithin(event) ? new URL(event.destination.url).hash : undefined
      if (hash === undefined || !event.cancelable || !marks.loses(hash)) return
      event.preventDefault()
      setNextRoute(hash)
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
    <UnsavedContext value={marks}>
      {children}
      <ConfirmDialog
        open={nextRoute !== undefined}
        onOpenChange={() => setNextRoute(undefined)}
        title="Leave without saving?"
        description="Your changes here are lost."
        confirmLabel="Leave"
        cancelLabel="Stay"
        onConfirm={async () => {
          marks.discard()
          window.location.hash = nextRoute ?? ''
        }}
      />
    </UnsavedContext>
  )
}

/** Whether the event is a navigation within the page. Only some browsers report it in advance. */
function isWithin(event: Event): event is Event & { destination: { url: string } } {
  return 'hashChange' in event && event.hashChange === true && 'destination' in event
}
