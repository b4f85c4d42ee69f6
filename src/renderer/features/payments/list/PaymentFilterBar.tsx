import { DateRange } from '#renderer/ui/DateRange.tsx'
import { FilterBar, FilterSearch, FilterSelect } from '#renderer/ui/FilterBar.tsx'
import { stateLabels } from '../describePayment.ts'
import { filteredStates, type PaymentFilters } from './paymentFilters.ts'

type PaymentFilterBarProps = { filters: PaymentFilters; onChange: (filters: PaymentFilters) => void }

export function PaymentFilterBar({ filters, onChange }: PaymentFilterBarProps) {
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
