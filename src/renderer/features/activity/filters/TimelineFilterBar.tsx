import { Search, X } from 'lucide-react'
import { ChoiceChips } from '../../../ui/ChoiceChips.tsx'
import { DateRange } from '../../../ui/DateRange.tsx'
import { IconButton } from '../../../ui/IconButton.tsx'
import { Select } from '../../../ui/Select.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import {
  type ActorKind,
  actorLabels,
  areaLabels,
  areas,
  periodLabels,
  periods,
  type TimelineFilters,
} from './timelineFilters.ts'

type TimelineFilterBarProps = {
  filters: TimelineFilters
  onChange: (filters: TimelineFilters) => void
}

const actors: readonly (ActorKind | 'anyone')[] = ['anyone', 'person', 'client', 'tool', 'agent', 'service', 'system']

/** What of the log is shown: words, area, who and when. */
export function TimelineFilterBar({ filters, onChange }: TimelineFilterBarProps) {
  const change = (changed: Partial<TimelineFilters>) => onChange({ ...filters, ...changed })
  return (
    <search aria-label="Filter activity" className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <div className="relative w-64">
        <Search aria-hidden className="absolute top-2.25 left-2.5 z-1 size-3.5 text-faint" />
        <TextField
          label="Search activity"
          labelHidden
          placeholder="Search activity"
          value={filters.search}
          onChange={(search) => change({ search })}
          onKeyDown={(event) => {
            if (event.key === 'Escape') change({ search: '' })
          }}
          maxLength={200}
          className="px-8"
        />
        {filters.search !== '' && (
          <IconButton
            size="small"
            label="Clear search"
            icon={X}
            onClick={() => change({ search: '' })}
            className="absolute top-1 right-1"
          />
        )}
      </div>
      <div className="w-32">
        <Select
          label="By"
          labelHidden
          value={filters.actor}
          onChange={(actor) => change({ actor })}
          options={actors.map((value) => ({ value, label: actorLabels[value] }))}
        />
      </div>
      <div className="w-36">
        <Select
          label="When"
          labelHidden
          value={filters.period}
          onChange={(period) => change({ period })}
          options={periods.map((value) => ({ value, label: periodLabels[value] }))}
        />
      </div>
      {filters.period === 'between' && <DateRange from={filters.from} to={filters.to} onChange={change} />}
      <ChoiceChips
        legend="Area"
        options={areas.map((value) => ({ value, label: areaLabels[value] }))}
        value={filters.area}
        onChange={(area) => change({ area })}
      />
    </search>
  )
}
