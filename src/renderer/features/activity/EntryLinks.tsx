import type { ReactNode } from 'react'
import type { EntryLink } from './list/entryLinks.ts'

export function EntryLinks({ links, children }: { links: readonly EntryLink[]; children?: ReactNode }) {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-small">
      {children}
      {links.map(({ label, href }) => (
        <a key={label} href={href} className="font-medium text-accent hover:underline">
          {label}
        </a>
      ))}
    </p>
  )
}
