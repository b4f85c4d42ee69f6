import { joinClassNames } from './classNames.ts'

type SpentBarProps = {
  /** Fraction of the limit, from 0 to 1. */
  share: number
  className?: string
}

export function SpentBar({ share, className }: SpentBarProps) {
  return (
    <span aria-hidden className={joinClassNames('block h-1.5 overflow-hidden rounded-full bg-hover', className)}>
      <span
        className={joinClassNames('block h-full rounded-full', share >= 0.9 ? 'bg-caution' : 'bg-chart-1')}
        style={{ width: `${Math.min(1, share) * 100}%` }}
      />
    </span>
  )
}
