import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CalendarClock } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { renewalsKey, useRenewals } from '#renderer/api/useRenewals.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { dismissNotices, removeRenewal } from '#shared/contract/domainRenewals.ts'
import { formatDay } from './renewalLabels.ts'

const maxNamed = 3

/** Expiring domains, shown until the user dismisses the notice. */
export function NoticeBar() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = useRenewals()
  const dismissing = useMutation({
    mutationFn: () => agent(dismissNotices, {}),
    onSettled: () => readAgain(queryClient, renewalsKey),
  })
  const removing = useMutation({
    mutationFn: (domain: string) => agent(removeRenewal, { domain }),
    onSettled: () => readAgain(queryClient, renewalsKey),
  })
  const notices = data?.notices ?? []
  const missing = data?.missing ?? []
  if (notices.length === 0 && missing.length === 0) return null
  const others = notices.length - maxNamed
  return (
    <PageColumn width="table" className="flex flex-col gap-2 pt-3">
      {missing.map((domain) => (
        <section
          key={domain}
          aria-label={`Auto-renew for ${domain}`}
          className="flex flex-wrap items-center gap-x-3 gap-y-1.5 rounded-card bg-caution-soft px-3 py-2"
        >
          <CalendarClock aria-hidden className="size-4 shrink-0 text-caution" />
          <p className="min-w-0 flex-1 basis-72">
            Auto-renew is on for {domain}, but the domain is not in your account.
          </p>
          <Button size="small" busy={removing.isPending} onClick={() => removing.mutate(domain)}>
            Turn off
          </Button>
        </section>
      ))}
      {notices.length > 0 && (
        <section
          aria-label="Expiring domains"
          className="flex flex-wrap items-center gap-x-3 gap-y-1.5 rounded-card bg-caution-soft px-3 py-2"
        >
          <CalendarClock aria-hidden className="size-4 shrink-0 text-caution" />
          <p className="min-w-0 flex-1 basis-72">
            {notices.slice(0, maxNamed).map(({ domain, expires_at: at }, index) => (
              <span key={domain}>
                {index > 0 && ' · '}
                <a href={buildAddress('domains', 'name', domain)} className="font-medium hover:underline">
                  {domain}
                </a>{' '}
                expires {formatDay(at)}
              </span>
            ))}
            {others > 0 && ` · ${others.toLocaleString('en')} more`}
          </p>
          <Button size="small" busy={dismissing.isPending} onClick={() => dismissing.mutate()}>
            Dismiss
          </Button>
        </section>
      )}
    </PageColumn>
  )
}
