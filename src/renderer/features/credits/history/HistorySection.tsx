import { Download } from 'lucide-react'
import { useState } from 'react'
import type { CreditTransaction } from '../../../../shared/contract/credits.ts'
import { Button } from '../../../ui/Button.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../../ui/Skeleton.tsx'
import { useSettled } from '../../../ui/useSettled.ts'
import { NothingYet, Panel } from '../Panel.tsx'
import { useCreditKeys } from '../useCredits.ts'
import { downloadHistory } from './downloadHistory.ts'
import { HistoryFilterBar } from './HistoryFilterBar.tsx'
import { HistoryRow } from './HistoryRow.tsx'
import { type HistoryFilters, historyQuery, isFilteredHistory, noHistoryFilters } from './historyFilters.ts'
import { useHistory } from './useHistory.ts'

type HistorySectionProps = {
  filters: HistoryFilters
  onFilters: (filters: HistoryFilters) => void
  /** Of the owner only. */
  onRefund?: (charge: CreditTransaction) => void
}

export function HistorySection({ filters, onFilters, onRefund }: HistorySectionProps) {
  const text = useSettled(filters.text)
  const query = historyQuery({ ...filters, text }, Date.now())
  const history = useHistory(query)
  const keys = useCreditKeys().data ?? []
  const { transactions, total } = history
  return (
    <Panel
      id="credit-history"
      title="History"
      note={history.data && <span className="tabular-nums">{total.toLocaleString('en')}</span>}
      actions={
        <Button size="small" icon={Download} disabled={total === 0} onClick={() => downloadHistory(query)}>
          Export CSV
        </Button>
      }
    >
      <div className="border-b border-line p-2.5">
        <HistoryFilterBar filters={filters} onChange={onFilters} keys={keys} />
      </div>
      {history.isPending ? (
        <div className="p-4">
          <SkeletonRows label="Loading history…" count={6} rowClassName="h-6" />
        </div>
      ) : history.error && transactions.length === 0 ? (
        <div className="p-3">
          <ErrorNotice error={history.error} onRetry={() => void history.refetch()} />
        </div>
      ) : transactions.length === 0 ? (
        <Nothing isFiltered={isFilteredHistory(query)} onClear={() => onFilters(noHistoryFilters)} />
      ) : (
        <>
          <Rows
            transactions={transactions}
            keyNames={new Map(keys.map(({ id, name }) => [id, name]))}
            onRefund={onRefund}
          />
          {history.hasNextPage && (
            <div className="flex items-center justify-between gap-3 border-t border-line px-3.5 py-2">
              <span className="text-small text-faint tabular-nums">
                {transactions.length.toLocaleString('en')} of {total.toLocaleString('en')}
              </span>
              <Button size="small" busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
                Show more
              </Button>
            </div>
          )}
        </>
      )}
    </Panel>
  )
}

type RowsProps = {
  transactions: readonly CreditTransaction[]
  keyNames: ReadonlyMap<string, string>
  onRefund: ((charge: CreditTransaction) => void) | undefined
}

function Rows({ transactions, keyNames, onRefund }: RowsProps) {
  const [open, setOpen] = useState<string>()
  return (
    <ol aria-label="Transactions, newest first" className="divide-y divide-line">
      {transactions.map((transaction) => (
        <HistoryRow
          key={transaction.id}
          transaction={transaction}
          keyNames={keyNames}
          isOpen={open === transaction.id}
          onToggle={() => setOpen(open === transaction.id ? undefined : transaction.id)}
          onRefund={onRefund}
        />
      ))}
    </ol>
  )
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (!isFiltered) return <NothingYet>No transactions yet.</NothingYet>
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-6">
      <p className="text-muted">No matching transactions.</p>
      <Button size="small" onClick={onClear}>
        Clear filters
      </Button>
    </div>
  )
}
