import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Unplug } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { Domain } from '#shared/contract/domains.ts'
import { listOrphaned, removeOrphaned } from '../domainCalls.ts'
import { domainsKey } from '../useDomains.ts'

type OrphanedNoticeProps = { domain: Pick<Domain, 'domain' | 'unicode' | 'orphaned_names'> }

/** Warns about DNS records that point to a deleted sandbox, and removes them on request. */
export function OrphanedNotice({ domain: { domain, unicode, orphaned_names: names } }: OrphanedNoticeProps) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = useQuery({
    queryKey: [...domainsKey, 'orphaned records', domain, names.length],
    queryFn: ({ signal }) => agent(listOrphaned, { domain }, { signal }),
    enabled: names.length > 0,
    retry: false,
  })
  const removing = useMutation({
    mutationFn: () => agent(removeOrphaned, { domain }),
    onSuccess: ({ removed }) => notify.done(`Removed ${describeCount(removed.length)} of ${unicode}`),
    onError: (error) => notify.failed(error),
    onSettled: () => readAgain(queryClient, domainsKey),
  })
  const records = data?.records ?? []
  if (records.length === 0) return null
  const sandboxes = [...new Set((data?.names ?? names).map((name) => name.sandbox_name))]
  return (
    <section
      aria-label="Records of a deleted sandbox"
      className="flex flex-wrap items-start gap-2.5 rounded-card bg-caution-soft p-3"
    >
      <Unplug aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
      <div className="min-w-60 flex-1">
        <p className="font-medium">
          {records.length === 1 ? 'A DNS record points' : `${records.length} DNS records point`} to nothing.
        </p>
        <p className="break-words text-muted">
          The sandbox {sandboxes.join(', ')} was deleted:{' '}
          {records.map(({ type, host, value }) => `${type} ${host} → ${value}`).join(', ')}
        </p>
      </div>
      <Button size="small" busy={removing.isPending} onClick={() => removing.mutate()}>
        Remove {records.length === 1 ? 'record' : 'records'}
      </Button>
    </section>
  )
}

function describeCount(count: number): string {
  return count === 1 ? '1 DNS record' : `${count} DNS records`
}
