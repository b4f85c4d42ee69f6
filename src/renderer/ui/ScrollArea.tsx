import type { ReactNode } from 'react'
import { classNames } from './classNames.ts'

type ScrollAreaProps = {
  /** Read aloud when it takes the focus to be scrolled by keyboard. */
  label: string
  className?: string
  children: ReactNode
}

/** A part of the screen that scrolls by itself, by keyboard too. */
export function ScrollArea({ label, className, children }: ScrollAreaProps) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard cannot scroll it
      tabIndex={0}
      className={classNames('min-h-0 min-w-0 overflow-auto focus-visible:-outline-offset-2', className)}
    >
      {children}
    </section>
  )
}
