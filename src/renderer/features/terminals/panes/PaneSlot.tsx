import { useLayoutEffect, useRef } from 'react'

/** The place of a terminal in the layout; what is drawn there comes with its own element. */
export function PaneSlot({ host }: { host: HTMLElement }) {
  const slot = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (host.parentElement !== slot.current) slot.current?.append(host)
  })
  return <div ref={slot} className="absolute inset-0" />
}
