import { Search } from 'lucide-react'
import type { ApiKey } from '../../../../shared/contract/accounts.ts'
import { DateRange } from '../../../ui/DateRange.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { daysUntil } from '../spending/dailySeries.ts'
import { useSpending } from '../useCredits.ts'
import { type HistoryFilters, historyPeriods, periodLabels, transactionTypes, typeLabels } from './historyFilters.ts'

type HistoryFilterBarProps = {
  filters: HistoryFilters
  onChange: (filters: HistoryFilters) => void
  keys: readonly ApiKey[]
}

const every = 'every one'

/** What of the history is shown: words, type, model, API key and days. */
export function HistoryFilterBar({ filters, onChange, keys }: HistoryFilterBarProps) {
  const change = (changed: Partial<HistoryFilters>) => onChange({ ...filters, ...changed })
  const spent = useSpending({ ...daysUntil(Date.now(), '365'), by: 'model' }).data?.groups ?? []
  const models = spent.flatMap(({ model }) => model ?? []).toSorted()
  const listed = filters.model === '' || models.includes(filters.model) ? models : [filters.model, ...models]
  return (
    <search aria-label="Filter history" className="flex flex-wrap items-center gap-2">
      <div className="relative w-56">
        <Search aria-hidden className="absolute top-2.25 left-2.5 z-1 size-3.5 text-faint" />
        <TextField
          type="search"
          label="Search history"
          labelHidden
          placeholder="Search history"
          value={filters.text}
          onChange={(text) => change({ text })}
          maxLength={200}
          className="pl-8"
        />
      </div>
      <div className="w-32">
        <Select
          label="Type"
          labelHidden
          value={filters.type}
          onChange={(type) => change({ type })}
          options={[
            { value: 'all', label: 'All types' },
            ...transactionTypes.map((value) => ({ value, label: typeLabels[value] })),
          ]}
        />
      </div>
      {listed.length > 0 && (
        <div className="w-40">
          <Select
            label="Model"
            labelHidden
            value={filters.model === '' ? every : filters.model}
            onChange={(model) => change({ model: model === every ? '' : model })}
            options={[{ value: every, label: 'All models' }, ...listed.map((value) => ({ value, label: value }))]}
          />
        </div>
      )}
      {keys.length > 0 && (
        <div className="w-36">
          <Select
            label="API key"
            labelHidden
            value={filters.key === '' ? every : filters.key}
            onChange={(key) => change({ key: key === every ? '' : key })}
            options={[
              { value: every, label: 'All keys' },
              ...keys.map(({ id, name, key_prefix }) => ({ value: id, label: name, detail: `${key_prefix}…` })),
            ]}
          />
        </div>
      )}
      <div className="w-36">
        <Select
          label="When"
          labelHidden
          value={filters.period}
          onChange={(period) => change({ period })}
          options={historyPeriods.map((value) => ({ value, label: periodLabels[value] }))}
        />
      </div>
      {filters.period === 'between' && <DateRange from={filters.from} to={filters.to} note="UTC" onChange={change} />}
    </search>
  )
}
