import { joinClassNames } from './classNames.ts'

/** Placeholder with the size of the content that is loading. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={joinClassNames('animate-breathe block rounded-small bg-selected', className)} />
}

type SkeletonRowsProps = {
  /** Accessible label, such as `Loading sandboxes…`. */
  label: string
  count?: number
  rowClassName?: string
}

export function SkeletonRows({ label, count = 3, rowClassName = 'h-7' }: SkeletonRowsProps) {
  return (
    <div role="status" aria-busy="true" className="flex flex-col gap-2">
      <span className="sr-only">{label}</span>
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are identical
        <Skeleton key={row} className={rowClassName} />
      ))}
    </div>
  )
}
