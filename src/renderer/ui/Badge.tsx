import type { ReactNode } from 'react'
import { classNames } from './classNames.ts'
import type { Tone } from './StatusDot.tsx'

const looks: Record<Tone, string> = {
  neutral: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent',
  positive: 'bg-positive-soft text-positive',
  caution: 'bg-caution-soft text-caution',
  negative: 'bg-negative-soft text-negative',
}

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 shrink-0 items-center gap-1 rounded-small px-1.5 text-tiny font-medium whitespace-nowrap',
        looks[tone],
      )}
    >
      {children}
    </span>
  )
}
