import { type RefObject, useEffect, useEffectEvent, useState } from 'react'

/**
 * Takes files that are dropped anywhere on the page that `place` stands in: beside it, the browser would open them in
 * the place of the window. Dragged text goes where it always goes.
 *
 * @returns whether files are held over the page now
 */
export function useFileDrop(place: RefObject<HTMLElement | null>, onFiles: (files: File[]) => void): boolean {
  const [dropping, setDropping] = useState(false)
  const take = useEffectEvent(onFiles)
  useEffect(() => {
    const page = place.current?.closest('main') ?? place.current
    if (!page) return
    const ending = new AbortController()
    const { signal } = ending
    const findDroppedFiles = (event: DragEvent) =>
      event.dataTransfer?.types.includes('Files') ? event.dataTransfer : undefined
    const over = (event: DragEvent) => {
      if (!findDroppedFiles(event)) return
      event.preventDefault()
      setDropping(true)
    }
    const leave = ({ relatedTarget }: DragEvent) => {
      // Moving between elements leaves one but not the page.
      if (!(relatedTarget instanceof Node && page.contains(relatedTarget))) setDropping(false)
    }
    const drop = (event: DragEvent) => {
      setDropping(false)
      const dropped = findDroppedFiles(event)
      if (!dropped) return
      event.preventDefault()
      take([...dropped.files])
    }
    page.addEventListener('dragover', over, { signal })
    page.addEventListener('dragleave', leave, { signal })
    page.addEventListener('drop', drop, { signal })
    return () => ending.abort()
  }, [place])
  return dropping
}
