import { Search } from 'lucide-react'
import { DateRange } from '../../../ui/DateRange.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import { stateLabels } from '../paymentWords.ts'
import { filteredStates, type PaymentFilters } from './paymentFilters.ts'

type PaymentFilterBarProps = { filters: PaymentFilters; onChange: (filters: PaymentFilters) => void }

export function PaymentFilterBar({ filters, onChange }: PaymentFilterBarProps) {
  const change = (changed: Partial<PaymentFilters>) => onChange({ ...filters, ...changed })
  return (
    <search aria-label="Filter payments" className="flex flex-wrap items-center gap-2">
      <div className="relative w-64 max-narrow:w-full">
        <Search aria-hidden className="absolute top-2.25 left-2.5 z-1 size-3.5 text-faint" />
        <TextField
          type="search"
          label="Search payments"
          labelHidden
          placeholder="Title, site, payee or transaction"
          value={filters.text}
          onChange={(text) => change({ text })}
          maxLength={200}
          className="pl-8"
        />
      </div>
      <div className="w-40">
        <Select
          label="State"
          labelHidden
          value={filters.state}
          onChange={(state) => change({ state })}
          options={[
            { value: 'all', label: 'All states' },
            ...filteredStates.map((value) => ({ value, label: stateLabels[value] })),
          ]}
        />
      </div>
      <DateRange from={filters.from} to={filters.to} note="UTC" onChange={change} />
    </search>
  )
}
