import { createContext, type ReactNode, useContext } from 'react'

const InView = createContext(true)

/** Whether the layers that this stands on are all in view. */
export function useInView(): boolean {
  return useContext(InView)
}

type LayerProps = { visible: boolean; children: ReactNode }

/**
 * Stacked view, of which one is visible at a time. Hidden ones keep their size, so that showing them again needs no
 * layout; they are inert.
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

/** For a place that makes its own element. */
export function LayerView({ visible, children }: LayerProps) {
  return <InView value={useInView() && visible}>{children}</InView>
}
