import { joinClassNames } from './classNames.ts'

export type Tone = 'neutral' | 'accent' | 'positive' | 'caution' | 'negative'

const fills: Record<Tone, string> = {
  neutral: 'border-[1.5px] border-faint',
  accent: 'bg-accent',
  positive: 'bg-positive',
  caution: 'bg-caution',
  negative: 'bg-negative',
}

type StatusDotProps = {
  tone: Tone
  /** Accessible label. Omit it if adjacent text contains the same word. */
  label?: string
  /** Whether work is in progress. */
  pulsing?: boolean
}

export function StatusDot({ tone, label, pulsing = false }: StatusDotProps) {
  const className = joinClassNames(
    'inline-block size-2 shrink-0 rounded-full',
    fills[tone],
    pulsing && 'animate-breathe',
  )
  return label === undefined ? (
    <span aria-hidden data-dot className={className} />
  ) : (
    <span role="img" aria-label={label} data-dot className={className} />
  )
}
