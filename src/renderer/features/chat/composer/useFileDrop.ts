import { type RefObject, useEffect, useEffectEvent, useState } from 'react'

/**
 * Accepts files dropped anywhere on the page that contains `place`. Outside the page, the browser would open them in
 * place of the window. Dragged text is not affected.
 * @returns whether files are currently dragged over the page
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
      // Moving between elements fires `dragleave` without leaving the page.
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
