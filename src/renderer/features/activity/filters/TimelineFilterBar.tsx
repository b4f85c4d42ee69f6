import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { DateRange } from '#renderer/ui/DateRange.tsx'
import { FilterBar, FilterSearch, FilterSelect } from '#renderer/ui/FilterBar.tsx'
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

export function TimelineFilterBar({ filters, onChange }: TimelineFilterBarProps) {
  const change = (changed: Partial<TimelineFilters>) => onChange({ ...filters, ...changed })
  return (
    <FilterBar of="activity">
      <FilterSearch label="Search activity" value={filters.search} onChange={(search) => change({ search })} />
      <FilterSelect
        label="By"
        value={filters.actor}
        onChange={(actor) => change({ actor })}
        options={actors.map((value) => ({ value, label: actorLabels[value] }))}
      />
      <FilterSelect
        label="When"
        value={filters.period}
        onChange={(period) => change({ period })}
        options={periods.map((value) => ({ value, label: periodLabels[value] }))}
      />
      {filters.period === 'between' && <DateRange from={filters.from} to={filters.to} onChange={change} />}
      <ChoiceChips
        legend="Area"
        options={areas.map((value) => ({ value, label: areaLabels[value] }))}
        value={filters.area}
        onChange={(area) => change({ area })}
      />
    </FilterBar>
  )
}
