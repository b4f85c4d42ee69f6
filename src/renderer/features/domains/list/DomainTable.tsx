import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, Lock, LockOpen } from 'lucide-react'
import { useRef } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { moveAmongRows } from '#renderer/ui/moveAmongRows.ts'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { StatusDot, type Tone } from '#renderer/ui/StatusDot.tsx'
import type { DomainRenewal } from '#shared/contract/domainRenewals.ts'
import type { Domain } from '#shared/contract/domains.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { getRenewalBadge } from '../renewals/renewalLabels.ts'
import type { DomainSort } from './domainRows.ts'
import { ExpiryText } from './ExpiryText.tsx'

const rowPixels = 36
const columns =
  'grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_7rem_7rem_10.5rem_2rem] gap-3 max-narrow:grid-cols-[minmax(0,1fr)_10.5rem_1.5rem]'
const tones: Readonly<Record<Domain['status'], Tone>> = openRecord(
  { active: 'positive', pending: 'caution', expired: 'negative' },
  () => 'neutral',
)
const statusLabels: Readonly<Record<Domain['status'], string>> = openRecord(
  {
    active: 'Active',
    pending: 'Pending',
    expired: 'Expired',
  },
  toPlainWord,
)

type DomainTableProps = {
  rows: readonly Domain[]
  /** Renewal settings by domain name, where configured. */
  renewals: ReadonlyMap<string, DomainRenewal>
  sort: DomainSort
  onSort: (sort: DomainSort) => void
  /** Names of domains selected for a bulk action. */
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}

/** Virtual table: renders only visible rows. */
export function DomainTable({ rows, renewals, sort, onSort, chosen, onChoose }: DomainTableProps) {
  const place = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    getItemKey: (index) => rows[index]?.domain ?? index,
    estimateSize: () => rowPixels,
    overscan: 12,
  })
  return (
    <div className="flex size-full flex-col">
      <PageColumn width="table">
        <div className="-mx-2.5 flex items-center gap-2.5 border-b border-line px-2.5 pb-1.5 text-small text-muted">
          <ChooseAll rows={rows} chosen={chosen} onChoose={onChoose} />
          <div className={columns}>
            <SortButton label="Domain" isPresent={sort === 'name'} onSort={() => onSort('name')} />
            <span className="max-narrow:hidden">Status</span>
            <span className="max-narrow:hidden">Auto-renew</span>
            <SortButton label="Expires" isPresent={sort === 'expiry'} onSort={() => onSort('expiry')} />
            <span className="sr-only">Transfer lock</span>
          </div>
        </div>
      </PageColumn>
      <div ref={place} className="min-h-0 flex-1 overflow-y-auto pb-6">
        <PageColumn width="table">
          <ul
            aria-label="Your domains"
            onKeyDown={moveAmongRows}
            className="relative -mx-2.5"
            style={{ height: virtualizer.getTotalSize() }}
          >
            {virtualizer.getVirtualItems().map(({ index, key, start }) => {
              const row = rows[index]
              return (
                row && (
                  <li
                    key={key}
                    aria-posinset={index + 1}
                    aria-setsize={rows.length}
                    className="absolute inset-x-0 top-0"
                    style={{ transform: `translateY(${start}px)`, height: rowPixels }}
                  >
                    <DomainRow
                      domain={row}
                      renewal={renewals.get(row.domain)}
                      isChosen={chosen.has(row.domain)}
                      onChoose={(isChosen) => onChoose(withName(chosen, row.domain, isChosen))}
                    />
                  </li>
                )
              )
            })}
          </ul>
        </PageColumn>
      </div>
    </div>
  )
}

function SortButton({ label, isPresent, onSort }: { label: string; isPresent: boolean; onSort: () => void }) {
  return (
    <button
      type="button"
      aria-pressed={isPresent}
      aria-label={`Sort by ${label.toLowerCase()}`}
      onClick={onSort}
      className="flex items-center gap-1 text-left hover:text-text"
    >
      {label}
      <ArrowDown aria-hidden className={joinClassNames('size-3', !isPresent && 'invisible')} />
    </button>
  )
}

function ChooseAll({ rows, chosen, onChoose }: Pick<DomainTableProps, 'rows' | 'chosen' | 'onChoose'>) {
  const count = rows.filter(({ domain }) => chosen.has(domain)).length
  const isAll = rows.length > 0 && count === rows.length
  return (
    <input
      type="checkbox"
      aria-label="Select all shown"
      checked={isAll}
      ref={(box) => {
        if (box) box.indeterminate = count > 0 && !isAll
      }}
      onChange={() => onChoose(new Set(isAll ? [] : rows.map(({ domain }) => domain)))}
      className="size-4 shrink-0 rounded-small"
    />
  )
}

function withName(chosen: ReadonlySet<string>, name: string, isChosen: boolean): ReadonlySet<string> {
  const next = new Set(chosen)
  if (isChosen) next.add(name)
  else next.delete(name)
  return next
}

type DomainRowProps = {
  domain: Domain
  renewal: DomainRenewal | undefined
  isChosen: boolean
  onChoose: (isChosen: boolean) => void
}

function DomainRow({ domain: of, renewal, isChosen, onChoose }: DomainRowProps) {
  const { domain, unicode, status, locked, left_at } = of
  const mark = getRenewalBadge(renewal)
  const Icon = locked ? Lock : LockOpen
  return (
    <div
      className={joinClassNames(
        'flex h-full items-center gap-2.5 rounded-control px-2.5 hover:bg-hover',
        isChosen && 'bg-selected',
      )}
    >
      <input
        type="checkbox"
        aria-label={`Select ${unicode}`}
        checked={isChosen}
        onChange={(event) => onChoose(event.target.checked)}
        className="size-4 shrink-0 rounded-small"
      />
      <a href={buildAddress('domains', 'name', domain)} className={joinClassNames(columns, 'h-full items-center')}>
        <span className="flex min-w-0 items-baseline gap-2">
          <bdi className="truncate font-medium">{unicode}</bdi>
          {unicode !== domain && <span className="truncate font-mono text-small text-faint">{domain}</span>}
        </span>
        <span className="flex items-center gap-1.5 text-muted max-narrow:hidden">
          <StatusDot tone={left_at === null ? tones[status] : 'caution'} />
          {left_at === null ? statusLabels[status] : 'Not in account'}
        </span>
        <span className="flex items-center gap-1.5 text-muted max-narrow:hidden">
          {mark ? (
            <>
              <StatusDot tone={mark.tone} />
              {mark.text}
            </>
          ) : (
            <span className="text-faint">{left_at === null ? 'Off' : '–'}</span>
          )}
        </span>
        <ExpiryText domain={of} />
        <Icon aria-label={locked ? 'Locked' : 'Unlocked'} role="img" className="size-3.5 text-faint" />
      </a>
    </div>
  )
}
