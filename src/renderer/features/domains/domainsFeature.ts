import { Globe, ListChecks, Search } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'
import { DomainNotices } from './renewals/DomainNotices.tsx'
import { useDomainsBadge } from './renewals/useDomainsBadge.ts'

const Screen = lazy(async () => ({ default: (await import('./DomainsScreen.tsx')).DomainsScreen }))

export const domainsFeature: Feature = {
  id: 'domains',
  title: 'Domains',
  icon: Globe,
  letter: 'd',
  keywords: ['names', 'dns', 'records', 'zone', 'nameservers', 'renew', 'expiry'],
  Screen,
  useBadge: useDomainsBadge,
  Everywhere: DomainNotices,
  commands: [
    {
      id: 'domains.search',
      title: 'Search for a domain…',
      section: 'Domains',
      icon: Search,
      keywords: ['name', 'available', 'price'],
      run: () => goTo('domains', 'search'),
    },
    {
      id: 'domains.check',
      title: 'Check many names…',
      section: 'Domains',
      icon: ListChecks,
      keywords: ['bulk', 'available', 'list', 'csv'],
      run: () => goTo('domains', 'check'),
    },
  ],
}
