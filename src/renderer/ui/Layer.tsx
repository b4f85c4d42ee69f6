import { createContext, type ReactNode, useContext } from 'react'

const InView = createContext(true)

/** Whether all layers that contain the component are visible. */
export function useInView(): boolean {
  return useContext(InView)
}

type LayerProps = { visible: boolean; children: ReactNode }

/**
 * Stacked view, of which only one is visible at a time. Hidden views are inert but keep their size, so that showing
 * them requires no layout.
 */
export function Layer({ visible, children }: LayerProps) {
  const inView = useInView() && visible
  return (
    <InView value={inView}>
      <div inert={!visible} className={visible ? 'absolute inset-0' : 'invisible absolute inset-0'}>
        {children}
      </div>
    </InView>
  )
}

/** Provides visibility to descendants without rendering an element. */
export function LayerView({ visible, children }: LayerProps) {
  return <InView value={useInView() && visible}>{children}</InView>
}
