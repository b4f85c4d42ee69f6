import { type ReactNode, useId } from 'react'

type PanelProps = {
  title: string
  /** Beside the title, in small. */
  note?: ReactNode
  /** At the right of the title. */
  actions?: ReactNode
  id?: string
  children: ReactNode
}

/** One part of the screen: its title, and a card. */
export function Panel({ title, note, actions, id, children }: PanelProps) {
  const titleId = useId()
  return (
    <section aria-labelledby={titleId} {...(id !== undefined && { id })} className="min-w-0 scroll-mt-4">
      <header className="mb-2 flex min-h-7 flex-wrap items-center gap-x-3 gap-y-1.5">
        <h3 id={titleId} className="font-semibold text-text">
          {title}
        </h3>
        {note !== undefined && <div className="min-w-0 text-small text-faint">{note}</div>}
        <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
      </header>
      <div className="rounded-card border border-line">{children}</div>
    </section>
  )
}

/** In the place of rows, where there are none. */
export function NothingYet({ children }: { children: ReactNode }) {
  return <p className="px-4 py-6 text-center text-muted">{children}</p>
}
