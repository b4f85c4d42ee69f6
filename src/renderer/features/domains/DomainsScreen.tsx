import { PageFrame } from '../../ui/PageFrame.tsx'
import { PageTabs } from '../../ui/PageTabs.tsx'
import { buildAddress, useRoute } from '../../ui/route.ts'
import { MyDomains } from './list/MyDomains.tsx'
import { CheckPage } from './search/CheckPage.tsx'
import { SearchPage } from './search/SearchPage.tsx'
import { useDomainList, usePrices } from './useDomains.ts'
import { DomainView } from './view/DomainView.tsx'

const pages = [
  { id: undefined, title: 'My domains' },
  { id: 'search', title: 'Search' },
  { id: 'check', title: 'Check names' },
] as const

/** Domains screen: owned domains, search for available names, and DNS records. */
export function DomainsScreen() {
  const [, page, domain] = useRoute()
  const { data: list } = useDomainList()
  const { data: prices } = usePrices()
  return (
    <PageFrame
      title="Domains"
      count={list && list.domains.length > 0 ? list.domains.length : undefined}
      note={prices?.test && 'Test registry: names exist at this service only.'}
      bar={
        <PageTabs
          label="Domains"
          tabs={pages.map(({ id, title }) => ({
            title,
            address: id ? buildAddress('domains', id) : buildAddress('domains'),
            isPresent: id === page || (id === undefined && page === 'name'),
          }))}
        />
      }
    >
      {page === 'search' ? (
        <SearchPage />
      ) : page === 'check' ? (
        <CheckPage />
      ) : page === 'name' && domain !== undefined ? (
        <DomainView key={domain} domain={domain} />
      ) : (
        <MyDomains />
      )}
    </PageFrame>
  )
}
