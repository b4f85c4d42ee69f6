import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

type EmptyStateProps = {
  icon: LucideIcon
  title: string
  /** Purpose of the view and how to add content, in one or two sentences. */
  description: ReactNode
  /** Buttons, starting with the primary action. */
  actions?: ReactNode
  /** Additional information, below a separator. */
  children?: ReactNode
}

export function EmptyState({ icon: Icon, title, description, actions, children }: EmptyStateProps) {
  return (
    <div className="flex size-full flex-col overflow-auto p-6">
      <section className="m-auto flex w-full max-w-96 flex-col items-start">
        <div className="mb-4 flex size-9 items-center justify-center rounded-card border border-line bg-panel text-muted">
          <Icon aria-hidden className="size-4.5" strokeWidth={1.75} />
        </div>
        <h2 className="text-title font-semibold text-text">{title}</h2>
        <div className="mt-1 text-muted">{description}</div>
        {actions && <div className="mt-4 flex flex-wrap items-center gap-2">{actions}</div>}
        {children && <div className="mt-5 w-full border-t border-line pt-4 text-muted">{children}</div>}
      </section>
    </div>
  )
}
