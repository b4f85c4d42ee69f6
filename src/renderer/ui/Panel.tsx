import { type ReactNode, useId } from 'react'

type PanelProps = {
  title: string
  /** Small text beside the title. */
  note?: ReactNode
  actions?: ReactNode
  id?: string
  children: ReactNode
}

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

/** Shown in place of rows in an empty list. */
export function NothingYet({ children }: { children: ReactNode }) {
  return <p className="px-4 py-6 text-center text-muted">{children}</p>
}
