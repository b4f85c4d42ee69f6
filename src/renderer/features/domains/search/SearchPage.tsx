import { z } from 'zod'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useAddressFilters } from '#renderer/ui/useAddressFilters.ts'
import { useDebounced } from '#renderer/ui/useDebounced.ts'
import { defaultTlds } from '#shared/contract/domainSearch.ts'
import { SourceNotice } from '../SourceNotice.tsx'
import { useSearchResults } from '../useDomains.ts'
import { Availability, formatPrice } from './Availability.tsx'
import { BuyButton } from './BuyButton.tsx'

/** Queried separately, so that a slow registry does not delay the others. */
const parts = [defaultTlds.slice(0, 2), defaultTlds.slice(2, 4), defaultTlds.slice(4)].map((it) => it.join(','))

const SearchParams = z.object({ q: z.string().max(253) })
const noQuery = { q: '' }

export function SearchPage() {
  const [{ q: written }, setQuery] = useAddressFilters(SearchParams, noQuery)
  const q = useDebounced(written.trim())
  return (
    <PageScroll width="table" className="flex flex-col gap-4 py-5">
      <div className="max-w-120">
        <TextField
          label="Word or domain name"
          placeholder="myshop or myshop.com"
          value={written}
          onChange={(text) => setQuery({ q: text })}
          maxLength={253}
          autoFocus
        />
      </div>
      {q !== '' && (
        <section aria-label="Results">
          <div className={`${columns} border-b border-line pb-1.5 text-small text-muted`}>
            <span>Name</span>
            <span>Status</span>
            <span className="text-right">First year</span>
            <span className="text-right max-narrow:hidden">Renewal</span>
            <span />
          </div>
          {parts.map((tlds) => (
            <Results key={tlds} q={q} tlds={tlds} isFirst={tlds === parts[0]} />
          ))}
        </section>
      )}
    </PageScroll>
  )
}

const columns =
  'grid grid-cols-[minmax(0,1fr)_6rem_6rem_6rem_4rem] max-narrow:grid-cols-[minmax(0,1fr)_6rem_5rem_4rem] items-center gap-3'

function Results({ q, tlds, isFirst }: { q: string; tlds: string; isFirst: boolean }) {
  const { data, error, isPending, isPlaceholderData, refetch } = useSearchResults(q, tlds)
  if (isPending) return <SkeletonRows label="Searching…" count={tlds.split(',').length} rowClassName="h-6" />
  if (error) return isFirst ? <ErrorNotice error={error} onRetry={() => void refetch()} /> : null
  // A complete domain name is included in the results of each part, but shown once.
  const results = data.results.filter(
    (result) => isFirst || tlds.split(',').some((tld) => result.domain.endsWith(`.${tld}`)),
  )
  return (
    <>
      <ul aria-busy={isPlaceholderData || undefined} className={isPlaceholderData ? 'opacity-60' : undefined}>
        {results
          .filter((it) => isFirst || it.domain !== q.toLowerCase())
          .map((result) => (
            <li key={result.domain} className={`${columns} min-h-9 border-b border-line py-1.5`}>
              <Availability {...result} />
              <span className="text-right tabular-nums">{formatPrice(result.pricing?.registration)}</span>
              <span className="text-right text-muted tabular-nums max-narrow:hidden">
                {formatPrice(result.pricing?.renewal)}
              </span>
              <BuyButton result={result} renewal={result.pricing?.renewal ?? null} />
            </li>
          ))}
      </ul>
      {data.source === 'offline' && isFirst && <SourceNotice source={data.source} asOf={data.as_of} />}
    </>
  )
}
