import { DateRange } from '#renderer/ui/DateRange.tsx'
import { FilterBar, FilterOne, FilterSearch, FilterSelect } from '#renderer/ui/FilterBar.tsx'
import type { ApiKey } from '#shared/contract/accounts.ts'
import { listDaysUntil } from '../spending/dailySeries.ts'
import { useSpending } from '../useCredits.ts'
import { type HistoryFilters, historyPeriods, periodLabels, transactionTypes, typeLabels } from './historyFilters.ts'

type HistoryFilterBarProps = {
  filters: HistoryFilters
  onChange: (filters: HistoryFilters) => void
  keys: readonly ApiKey[]
}

export function HistoryFilterBar({ filters, onChange, keys }: HistoryFilterBarProps) {
  const change = (changed: Partial<HistoryFilters>) => onChange({ ...filters, ...changed })
  const spent = useSpending({ ...listDaysUntil(Date.now(), '365'), by: 'model' }).data?.groups ?? []
  const models = spent.flatMap(({ model }) => model ?? []).toSorted()
  const listed = filters.model === '' || models.includes(filters.model) ? models : [filters.model, ...models]
  return (
    <FilterBar of="history">
      <FilterSearch label="Search history" value={filters.text} onChange={(text) => change({ text })} />
      <FilterSelect
        label="Type"
        value={filters.type}
        onChange={(type) => change({ type })}
        options={[
          { value: 'all', label: 'All types' },
          ...transactionTypes.map((value) => ({ value, label: typeLabels[value] })),
        ]}
      />
      <FilterOne
        label="Model"
        all="All models"
        value={filters.model}
        onChange={(model) => change({ model })}
        options={listed.map((value) => ({ value, label: value }))}
      />
      <FilterOne
        label="API key"
        all="All keys"
        value={filters.key}
        onChange={(key) => change({ key })}
        options={keys.map(({ id, name, key_prefix }) => ({ value: id, label: name, detail: `${key_prefix}…` }))}
      />
      <FilterSelect
        label="When"
        value={filters.period}
        onChange={(period) => change({ period })}
        options={historyPeriods.map((value) => ({ value, label: periodLabels[value] }))}
      />
      {filters.period === 'between' && <DateRange from={filters.from} to={filters.to} note="UTC" onChange={change} />}
    </FilterBar>
  )
}
