import type { ReactNode } from 'react'

type SettingsPageProps = {
  title: string
  description: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export function SettingsPage({ title, description, actions, children }: SettingsPageProps) {
  return (
    <article aria-label={title}>
      <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-64 max-w-140 flex-1">
          <h2 className="text-large font-semibold text-text">{title}</h2>
          <div className="mt-0.5 text-muted">{description}</div>
        </div>
        {actions && <div className="flex shrink-0 items-center gap-2 pt-0.5">{actions}</div>}
      </header>
      <div className="flex flex-col gap-6">{children}</div>
    </article>
  )
}

type SettingsGroupProps = { title: string; description?: ReactNode; actions?: ReactNode; children: ReactNode }

export function SettingsGroup({ title, description, actions, children }: SettingsGroupProps) {
  return (
    <section aria-label={title}>
      <div className="mb-2 flex flex-wrap items-end justify-between gap-2">
        <div>
          <h3 className="font-semibold text-text">{title}</h3>
          {description !== undefined && <p className="text-muted">{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

export function SettingsCard({ children }: { children: ReactNode }) {
  return <div className="divide-y divide-line rounded-card border border-line bg-canvas">{children}</div>
}

type SettingsRowProps = {
  /** Label of the row. The control has a separate accessible name. */
  label: string
  hint?: ReactNode
  children: ReactNode
}

export function SettingsRow({ label, hint, children }: SettingsRowProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-3.5 py-2.5">
      <div className="min-w-48 max-w-110 flex-1">
        <p className="font-medium text-text">{label}</p>
        {hint !== undefined && <div className="text-small text-faint">{hint}</div>}
      </div>
      <div className="flex min-w-0 max-w-full items-center gap-2">{children}</div>
    </div>
  )
}
