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
    domains.map((it) => [
      ...[it.domain, it.unicode, it.status, it.registered_at, it.expires_at],
      ...[
        formatYesNo(it.privacy),
        formatYesNo(it.locked),
        formatYesNo(it.auto_renew),
        it.registrar,
        it.nameservers.join(' '),
      ],
    ]),
  )
}

function formatYesNo(is: boolean): string {
  return is ? 'yes' : 'no'
}
