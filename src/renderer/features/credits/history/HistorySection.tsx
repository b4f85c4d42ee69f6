import { Download } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import type { CreditTransaction } from '#shared/contract/credits.ts'
import { useCreditKeys } from '../useCredits.ts'
import { downloadHistory } from './downloadHistory.ts'
import { HistoryFilterBar } from './HistoryFilterBar.tsx'
import { HistoryList } from './HistoryList.tsx'
import { type HistoryFilters, isFilteredHistory, noHistoryFilters, toHistoryQuery } from './historyFilters.ts'
import { useNewestHistory } from './useHistory.ts'

type HistorySectionProps = {
  /** Element that scrolls the section; null until it is mounted. */
  scroller: HTMLElement | null
  filters: HistoryFilters
  onFilters: (filters: HistoryFilters) => void
  /** Available to the owner only. */
  onRefund?: (charge: CreditTransaction) => void
}

export function HistorySection({ scroller, filters, onFilters, onRefund }: HistorySectionProps) {
  const text = useDebounced(filters.text)
  const query = toHistoryQuery({ ...filters, text }, Date.now())
  const history = useNewestHistory(query)
  const keys = useCreditKeys().data ?? []
  const total = history.data?.total ?? 0
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
      ) : !history.data ? (
        <div className="p-3">
          <ErrorNotice error={history.error} onRetry={() => void history.refetch()} />
        </div>
      ) : total === 0 ? (
        <Nothing isFiltered={isFilteredHistory(query)} onClear={() => onFilters(noHistoryFilters)} />
      ) : (
        scroller && (
          <HistoryList
            key={JSON.stringify(query)}
            query={query}
            newest={history.data}
            scroller={scroller}
            keyNames={new Map(keys.map(({ id, name }) => [id, name]))}
            onRefund={onRefund}
          />
        )
      )}
    </Panel>
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
