import type { Domain } from '#shared/contract/domains.ts'
import { formatCsv } from '#shared/csv.ts'

export function formatDomainsCsv(domains: readonly Domain[]): string {
  return formatCsv(
    [
      'domain',
      'name',
      'status',
      'registered_at',
      'expires_at',
      'privacy',
      'locked',
      'auto_renew',
      'registrar',
      'nameservers',
    ],
    domains.map((domain) => [
      ...[domain.domain, domain.unicode, domain.status, domain.registered_at, domain.expires_at],
      ...[
        formatYesNo(domain.privacy),
        formatYesNo(domain.locked),
        formatYesNo(domain.auto_renew),
        domain.registrar,
        domain.nameservers.join(' '),
      ],
    ]),
  )
}

function formatYesNo(is: boolean): string {
  return is ? 'yes' : 'no'
}
