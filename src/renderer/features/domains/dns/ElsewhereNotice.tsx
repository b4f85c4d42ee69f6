import { useMutation, useQueryClient } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import type { Domain } from '#shared/contract/domains.ts'
import { changeNameservers } from '../domainCalls.ts'
import { domainsKey, usePrices } from '../useDomains.ts'
import { areNameserversElsewhere } from './nameserversElsewhere.ts'

type ElsewhereNoticeProps = { domain: Pick<Domain, 'domain' | 'unicode' | 'nameservers'> }

/** Explains that the records below are not in effect while the domain uses other name servers. */
export function ElsewhereNotice({ domain: { domain, unicode, nameservers } }: ElsewhereNoticeProps) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const own = usePrices().data?.nameservers
  const namable = own?.filter((it) => !it.startsWith('.')) ?? []
  const changing = useMutation({
    mutationFn: () => agent(changeNameservers, { domain, nameservers: namable }),
    onSuccess: () => notify.done(`${unicode} uses the registrar’s nameservers`),
    onError: (error) => notify.failed(error),
    onSettled: () => readAgain(queryClient, domainsKey),
  })
  if (!areNameserversElsewhere(nameservers, own)) return null
  return (
    <div role="status" className="flex flex-wrap items-start gap-2.5 rounded-card bg-caution-soft p-3">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
      <div className="min-w-60 flex-1">
        <p className="font-medium">These records are not in use.</p>
        <p className="text-muted break-words">
          {unicode} uses the nameservers {nameservers.slice(0, 2).join(' and ')}
          {nameservers.length > 2 && ` and ${nameservers.length - 2} more`}. Change its records there, or go back to the
          registrar’s nameservers.
        </p>
      </div>
      {namable.length >= 2 && (
        <Button size="small" busy={changing.isPending} onClick={() => changing.mutate()}>
          Use the registrar’s nameservers
        </Button>
      )}
    </div>
  )
}
