import type { ReactNode } from 'react'
import type { TerminalPreferences } from './terminalPreferences.ts'

export type PreferencePart = {
  preferences: TerminalPreferences
  onChange: (change: Partial<TerminalPreferences>) => void
}

export function PreferenceGroup({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-2.5 border-b border-line pb-1 font-semibold text-text">{title}</h3>
      <div className="flex flex-col gap-3.5">{children}</div>
    </section>
  )
}
