import { Globe, Search, SearchX } from 'lucide-react'
import { useMemo, useState } from 'react'
import { z } from 'zod'
import { useRenewals } from '#renderer/api/useRenewals.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ChoiceChips } from '#renderer/ui/ChoiceChips.tsx'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useAddressFilters } from '#renderer/ui/useAddressFilters.ts'
import { BulkBar } from '../bulk/BulkBar.tsx'
import { NoticeBar } from '../renewals/NoticeBar.tsx'
import { SourceNotice } from '../SourceNotice.tsx'
import { useDomainList } from '../useDomains.ts'
import { DomainTable } from './DomainTable.tsx'
import { buildDomainRows } from './domainRows.ts'

const filters = [
  { value: 'all', label: 'All' },
  { value: 'expiring', label: 'Expiring' },
  { value: 'unlocked', label: 'Unlocked' },
] as const

const ListFilters = z.object({
  search: z.string(),
  filter: z.enum(['all', 'expiring', 'unlocked']),
  sort: z.enum(['name', 'expiry']),
})
const noListFilters: z.infer<typeof ListFilters> = { search: '', filter: 'all', sort: 'name' }

export function MyDomains() {
  const { data, error, isPending, refetch } = useDomainList()
  const { data: renewed } = useRenewals()
  const renewals = useMemo(() => new Map(renewed?.renewals.map((renewal) => [renewal.domain, renewal])), [renewed])
  const [listFilters, setListFilters] = useAddressFilters(ListFilters, noListFilters)
  const { search, filter, sort } = listFilters
  const change = (changed: Partial<typeof listFilters>) => setListFilters({ ...listFilters, ...changed })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  if (isPending) {
    return (
      <PageColumn width="table" className="py-5">
        <SkeletonRows label="Loading domains…" count={8} rowClassName="h-6" />
      </PageColumn>
    )
  }
  if (!data) {
    return (
      <PageColumn className="py-5">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </PageColumn>
    )
  }
  if (data.domains.length === 0) {
    return (
      <EmptyState
        icon={Globe}
        title="No domains yet"
        description="Your domains and their DNS records appear here, also when you are offline."
        actions={
          <Button variant="primary" icon={Search} onClick={() => goTo('domains', 'search')}>
            Search for a name
          </Button>
        }
      />
    )
  }
  const rows = buildDomainRows(data.domains, { search, filter, sort, nowMs: Date.now() })
  // Excludes selected rows that are filtered out.
  const chosenRows = rows.filter(({ domain }) => chosen.has(domain))
  return (
    <div className="flex size-full flex-col">
      <NoticeBar />
      <PageColumn width="table" className="flex flex-wrap items-center gap-3 py-3">
        <div className="w-56 max-narrow:w-full">
          <TextField
            label="Filter domains"
            labelHidden
            placeholder="Filter by name"
            value={search}
            onChange={(text) => change({ search: text })}
          />
        </div>
        <ChoiceChips legend="Show" options={filters} value={filter} onChange={(value) => change({ filter: value })} />
        <span className="flex-1" />
        <SourceNotice source={data.source} asOf={data.as_of} />
      </PageColumn>
      {chosenRows.length > 0 && (
        <BulkBar domains={chosenRows} renewals={renewals} onClear={() => setChosen(new Set())} />
      )}
      <div className="min-h-0 flex-1">
        {rows.length === 0 ? (
          <EmptyState
            icon={SearchX}
            title="No matching domains"
            description="Try another name or filter."
            actions={<Button onClick={() => change({ search: '', filter: 'all' })}>Clear filters</Button>}
          />
        ) : (
          <DomainTable
            rows={rows}
            renewals={renewals}
            sort={sort}
            onSort={(value) => change({ sort: value })}
            chosen={chosen}
            onChoose={setChosen}
          />
        )}
      </div>
    </div>
  )
}
