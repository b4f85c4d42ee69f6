import { ChevronRight, ShieldAlert } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { describeRow } from './describeRow.ts'
import { getEntryIcon } from './entryIcon.ts'
import { RowDetail } from './RowDetail.tsx'
import type { TimelineRow } from './timelineItems.ts'

type TimelineRowViewProps = {
  row: TimelineRow
  isOpen: boolean
  isTabStop: boolean
  /** Whether the list was opened for this row, which then takes the focus. */
  isSought: boolean
  /** Whether the row is shown in the view of its task. */
  inTask?: boolean
  onToggle: () => void
}

export function TimelineRowView({ row, isOpen, isTabStop, isSought, inTask = false, onToggle }: TimelineRowViewProps) {
  const [{ sequence, at, problem }] = row.entries
  const { kind } = row.lead ?? row.entries[0]
  const { who, what, outcome } = describeRow(row)
  const Icon = problem === null ? getEntryIcon(kind) : ShieldAlert
  const detailId = `entry-${sequence}`
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isSought) button.current?.focus()
  }, [isSought])
  return (
    <article
      className={joinClassNames(
        'rounded-control',
        problem !== null && 'bg-negative-soft',
        problem === null && isOpen && 'bg-panel',
      )}
    >
      <button
        ref={button}
        type="button"
        data-row
        tabIndex={isTabStop ? 0 : -1}
        aria-expanded={isOpen}
        aria-controls={isOpen ? detailId : undefined}
        onClick={onToggle}
        className="flex min-h-8 w-full items-start gap-2.5 rounded-control px-2.5 py-1.5 text-left hover:bg-hover focus-visible:-outline-offset-2"
      >
        <Icon
          aria-hidden
          className={joinClassNames('mt-0.5 size-4 shrink-0', problem === null ? 'text-faint' : 'text-negative')}
        />
        <span className="min-w-0 flex-1">
          <span className={joinClassNames('block break-words text-text', !isOpen && 'line-clamp-2')}>
            {who !== undefined && <span className="font-medium">{who}</span>}
            {what}
          </span>
          {problem !== null && <span className="block text-small break-words text-negative">{problem}</span>}
        </span>
        {outcome && (
          <span className="flex shrink-0 items-center gap-1.5 text-small leading-5 text-muted">
            <StatusDot tone={outcome.tone} />
            {outcome.words}
          </span>
        )}
        <span className="w-14 shrink-0 text-right leading-5">
          <TimeAgo at={at} />
        </span>
        <ChevronRight
          aria-hidden
          className={joinClassNames(
            'mt-1 size-3 shrink-0 text-faint transition-transform duration-100',
            isOpen && 'rotate-90',
          )}
        />
      </button>
      {isOpen && (
        <div id={detailId} className="pr-4 pl-9.5">
          <RowDetail row={row} inTask={inTask} />
        </div>
      )}
    </article>
  )
}
