import { createContext, type ReactNode, useContext, useState } from 'react'

const LayersContext = createContext<HTMLElement | null>(null)

/** Container of dialogs, menus and tooltips, rendered above the page in a separate landmark. */
export function Layers({ children }: { children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null)
  return (
    <LayersContext value={place}>
      {children}
      <section ref={setPlace} aria-label="Dialogs, menus and hints" />
    </LayersContext>
  )
}

/** Returns the `container` for a portal. */
export function useLayers(): HTMLElement | null {
  return useContext(LayersContext)
}
