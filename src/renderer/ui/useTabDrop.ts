import { type DragEvent, type DragEventHandler, useRef, useState } from 'react'
import type { TabDrag } from './tab.ts'

/** Time for which a dragged item must rest on a tab to open it, in milliseconds. */
const openDelayMs = 500

type TabDropOptions = { drag: TabDrag | undefined; onRest: (id: string) => void }

export type TabDrop = {
  /** Index of the tab before which the item would be inserted. */
  dropPlace: number | undefined
  /** Clears the drop indicator. */
  leave(): void
  handlers: Record<'onDragOver' | 'onDragLeave' | 'onDrop', DragEventHandler>
}

export function useTabDrop({ drag, onRest }: TabDropOptions): TabDrop {
  const [dropPlace, setDropPlace] = useState<number>()
  const resting = useRef<{ id: string; timer: ReturnType<typeof setTimeout> }>(undefined)

  const rest = (id: string | undefined) => {
    if (resting.current?.id === id) return
    clearTimeout(resting.current?.timer)
    resting.current = id === undefined ? undefined : { id, timer: setTimeout(() => onRest(id), openDelayMs) }
  }
  const leave = () => {
    setDropPlace(undefined)
    rest(undefined)
  }
  return {
    dropPlace,
    leave,
    handlers: {
      onDragOver(event) {
        if (!drag?.active) return
        event.preventDefault()
        const { place, id } = findDropTarget(event)
        setDropPlace(place)
        rest(id)
      },
      onDragLeave({ currentTarget, relatedTarget }) {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) leave()
      },
      onDrop(event) {
        if (!drag?.active) return
        event.preventDefault()
        drag.onDrop(findDropTarget(event).place)
        leave()
      },
    },
  }
}

/** Returns the insertion index, and the id of the tab under the pointer. */
function findDropTarget({ currentTarget, clientX, target }: DragEvent): { place: number; id: string | undefined } {
  const places = [...currentTarget.querySelectorAll<HTMLElement>('[data-tab]')]
  const under = target instanceof Element ? target.closest<HTMLElement>('[data-tab]') : null
  const after = places.filter((tab) => {
    const { left, width } = tab.getBoundingClientRect()
    return clientX > left + width / 2
  })
  return { place: after.length, id: under?.getAttribute('data-tab') ?? undefined }
}
