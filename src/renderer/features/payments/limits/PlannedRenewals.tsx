import { useState } from 'react'
import { useRenewals } from '#renderer/api/useRenewals.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { DomainRenewal, PlannedRenewal } from '#shared/contract/domainRenewals.ts'
import { formatMicroUsd } from '../describePayment.ts'

const fewest = 10

/** Renewals planned by auto-renew, and whether the budgets allow them. */
export function PlannedRenewals() {
  const { data, error, isPending, refetch } = useRenewals()
  const [isWhole, setWhole] = useState(false)
  const planned = data?.planned
  const visible = isWhole ? planned?.renewals : planned?.renewals.slice(0, fewest)
  return (
    <Panel
      title="Planned renewals"
      note={planned && `Domains that auto-renew pays for in the next ${planned.days} days`}
    >
      {isPending ? (
        <div className="p-4">
          <SkeletonRows label="Loading renewals…" count={2} />
        </div>
      ) : !planned || !visible ? (
        <div className="p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      ) : planned.renewals.length === 0 ? (
        <NothingYet>{describeNoRenewals(planned.days, data.renewals)}</NothingYet>
      ) : (
        <>
          <ul aria-label="Planned renewals" className="divide-y divide-line">
            {visible.map((item) => (
              <PlannedRow key={item.domain} renewal={item} />
            ))}
          </ul>
          {visible.length < planned.renewals.length && (
            <div className="border-t border-line px-3.5 py-2">
              <Button size="small" onClick={() => setWhole(true)}>
                Show all {planned.renewals.length.toLocaleString('en')}
              </Button>
            </div>
          )}
          <p className="flex flex-wrap items-center gap-x-2 border-t border-line px-3.5 py-2">
            <StatusDot tone={planned.covered ? 'positive' : 'caution'} />
            <span className="min-w-0 flex-1 text-muted">
              {planned.covered
                ? 'Your limits cover all planned renewals.'
                : 'Your limits or settings do not cover all planned renewals.'}
            </span>
            <span className="font-medium tabular-nums">{formatMicroUsd(planned.total_micro_usd)}</span>
          </p>
        </>
      )}
    </Panel>
  )
}

function PlannedRow({ renewal: { domain, at, amount_micro_usd: amount, problem } }: { renewal: PlannedRenewal }) {
  const day = new Date(at).toLocaleDateString('en', { day: 'numeric', month: 'short', year: 'numeric' })
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_8rem_6rem] items-baseline gap-x-4 px-3.5 py-2 max-narrow:grid-cols-[minmax(0,1fr)_6rem]">
      <div className="min-w-0">
        <a href={buildAddress('domains', 'name', domain)} className="block truncate font-medium hover:underline">
          {domain}
        </a>
        {problem !== null && <p className="text-small text-caution">{problem}</p>}
        <p className="hidden text-small text-muted max-narrow:block">{day}</p>
      </div>
      <time dateTime={at} className="text-muted tabular-nums max-narrow:hidden">
        {day}
      </time>
      <span className="text-right tabular-nums">{amount === null ? '—' : formatMicroUsd(amount)}</span>
    </li>
  )
}

function describeNoRenewals(days: number, renewals: readonly DomainRenewal[]): string {
  const [first] = renewals
    .filter(({ enabled }) => enabled)
    .map(({ renews_at: at }) => at)
    .toSorted()
  if (first === undefined) return 'No renewals planned. Turn on auto-renew for a domain to see it here.'
  const day = new Date(first).toLocaleDateString('en', { day: 'numeric', month: 'long', year: 'numeric' })
  return `Nothing to renew in the next ${days} days. Next renewal: ${day}.`
}
