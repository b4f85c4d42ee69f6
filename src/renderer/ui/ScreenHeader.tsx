import type { ReactNode } from 'react'

type ScreenHeaderProps = {
  title: string
  /** What the screen is for, in one sentence. */
  words: string
  /** At the right: what is done here as a whole. */
  actions?: ReactNode
  /** Below: filters and notices of the screen. */
  children?: ReactNode
}

export function ScreenHeader({ title, words, actions, children }: ScreenHeaderProps) {
  return (
    <header className="flex flex-col gap-3 border-b border-line px-4 py-2">
      <div className="flex min-h-9.5 flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-48 flex-1">
          <h2 className="text-title font-semibold text-text">{title}</h2>
          <p className="text-small text-muted">{words}</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">{actions}</div>
      </div>
      {children}
    </header>
  )
}
