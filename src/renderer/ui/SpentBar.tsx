import { classNames } from './classNames.ts'

type SpentBarProps = {
  /** Of the limit, from 0 to 1. */
  share: number
  className?: string
}

/** How much of a limit is gone, beside the numbers that say it. */
export function SpentBar({ share, className }: SpentBarProps) {
  return (
    <span aria-hidden className={classNames('block h-1.5 overflow-hidden rounded-full bg-hover', className)}>
      <span
        className={classNames('block h-full rounded-full', share >= 0.9 ? 'bg-caution' : 'bg-chart-1')}
        style={{ width: `${Math.min(1, share) * 100}%` }}
      />
    </span>
  )
}
