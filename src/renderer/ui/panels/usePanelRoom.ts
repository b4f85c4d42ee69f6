import { useLayoutEffect, useRef, useState } from 'react'

/** Minimum container widths in pixels. A window at 200 % zoom has half as many. */
const minForList = 640
const minForBoth = 860

export type PanelRoom = {
  /** Element that contains the panels. */
  place: React.RefObject<HTMLDivElement | null>
  /** Whether the list overlays the content because there is no space beside it. */
  listFolds: boolean
  /** Whether the panel at the right overlays the content. */
  endFloats: boolean
}

/** Measures before the first paint which panels fit. */
export function usePanelRoom(): PanelRoom {
  const place = useRef<HTMLDivElement>(null)
  const [room, setRoom] = useState({ listFolds: false, endFloats: false })
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const measure = () => {
      const width = element.clientWidth
      if (width === 0) return
      const next = { listFolds: width < minForList, endFloats: width < minForBoth }
      setRoom((before) => (before.listFolds === next.listFolds && before.endFloats === next.endFloats ? before : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { place, ...room }
}
