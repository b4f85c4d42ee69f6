import { ReceiptText, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { DateRange } from '#renderer/ui/DateRange.tsx'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { FilterBar, FilterSearch, FilterSelect } from '#renderer/ui/FilterBar.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import { stateLabels } from '../describePayment.ts'
import { usePaymentList, useUnclearCount } from '../usePayments.ts'
import { PaymentRow } from './PaymentRow.tsx'
import {
  filteredStates,
  isFilteredPayments,
  noPaymentFilters,
  type PaymentFilters,
  toPaymentQuery,
} from './paymentFilters.ts'

type PaymentFilterBarProps = { filters: PaymentFilters; onChange: (filters: PaymentFilters) => void }

type PaymentListProps = { filters: PaymentFilters; onFilters: (filters: PaymentFilters) => void }

export function PaymentList({ filters, onFilters }: PaymentListProps) {
  const text = useDebounced(filters.text)
  const query = toPaymentQuery({ ...filters, text })
  const { payments, total, data, error, isPending, refetch, ...pages } = usePaymentList(query)
  const isFiltered = isFilteredPayments(query)
  if (data && total === 0 && !isFiltered) {
    return (
      <EmptyState
        icon={ReceiptText}
        title="No payments yet"
        description="USDC payments by you, your agents and your tools appear here, with receipts."
      />
    )
  }
  return (
    <PageScroll width="table" className="flex flex-col gap-3 py-4">
      {filters.state !== 'unknown' && (
        <UnclearNotice onShow={() => onFilters({ ...noPaymentFilters, state: 'unknown' })} />
      )}
      <PaymentFilterBar filters={filters} onChange={onFilters} />
      {isPending ? (
        <SkeletonRows label="Loading payments…" count={8} rowClassName="h-6" />
      ) : error && payments.length === 0 ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : payments.length === 0 ? (
        <NoMatches onClear={() => onFilters(noPaymentFilters)} />
      ) : (
        <div className="rounded-card border border-line">
          <ol aria-label="Payments, newest first" className="divide-y divide-line">
            {payments.map((payment) => (
              <PaymentRow key={payment.id} payment={payment} />
            ))}
          </ol>
          {pages.hasNextPage && (
            <div className="flex items-center justify-between gap-3 border-t border-line px-3.5 py-2">
              <span className="text-small text-faint tabular-nums">
                {payments.length.toLocaleString('en')} of {total.toLocaleString('en')}
              </span>
              <Button size="small" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                Show more
              </Button>
            </div>
          )}
        </div>
      )}
    </PageScroll>
  )
}

function UnclearNotice({ onShow }: { onShow: () => void }) {
  const count = useUnclearCount()
  const [isHidden, setHidden] = useState(false)
  if (count === 0 || isHidden) return null
  return (
    <div role="status" className="flex flex-wrap items-start gap-2.5 rounded-card bg-caution-soft p-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
      <div className="min-w-60 flex-1">
        <p className="font-medium">
          {count === 1 ? '1 payment has an unknown outcome.' : `${count} payments have unknown outcomes.`}
        </p>
        <p className="text-muted">
          The seller has not confirmed the outcome. Steward keeps checking and never pays twice. Until then, the amount
          counts against your limits.
        </p>
      </div>
      <Button size="small" onClick={onShow}>
        Show
      </Button>
      <Button size="small" variant="ghost" onClick={() => setHidden(true)}>
        Hide
      </Button>
    </div>
  )
}

function NoMatches({ onClear }: { onClear: () => void }) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-card border border-line px-4 py-8">
      <p className="text-muted">No matching payments.</p>
      <Button size="small" onClick={onClear}>
        Clear filters
      </Button>
    </div>
  )
}

function PaymentFilterBar({ filters, onChange }: PaymentFilterBarProps) {
  const change = (changed: Partial<PaymentFilters>) => onChange({ ...filters, ...changed })
  return (
    <FilterBar of="payments">
      <FilterSearch
        label="Search payments"
        placeholder="Title, site, payee or transaction"
        value={filters.text}
        onChange={(text) => change({ text })}
      />
      <FilterSelect
        label="State"
        value={filters.state}
        onChange={(state) => change({ state })}
        options={[
          { value: 'all', label: 'All states' },
          ...filteredStates.map((value) => ({ value, label: stateLabels[value] })),
        ]}
      />
      <DateRange from={filters.from} to={filters.to} note="UTC" onChange={change} />
    </FilterBar>
  )
}
