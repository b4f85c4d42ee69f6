import { type RefObject, useLayoutEffect, useState } from 'react'

export type Overflow = { any: boolean; start: boolean; end: boolean }

/** Whether a row holds more than it shows, and on which side. */
export function useOverflow(row: RefObject<HTMLElement | null>, count: number): Overflow {
  const [overflow, setOverflow] = useState<Overflow>({ any: false, start: false, end: false })

  // biome-ignore lint/correctness/useExhaustiveDependencies: with another number of things in it the row is measured anew
  useLayoutEffect(() => {
    const element = row.current
    if (!element) return
    const measure = () => {
      const { scrollLeft, clientWidth, scrollWidth } = element
      const next = {
        any: scrollWidth > clientWidth + 1,
        start: scrollLeft > 1,
        end: scrollLeft + clientWidth < scrollWidth - 1,
      }
      setOverflow((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [row, count])

  return overflow
}
