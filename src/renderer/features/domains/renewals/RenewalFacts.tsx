import { useMutation, useQueryClient } from '@tanstack/react-query'
import { CalendarSync, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { renewalsKey, useRenewals } from '#renderer/api/useRenewals.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { type DomainRenewal, retryRenewal, setRenewal } from '#shared/contract/domainRenewals.ts'
import type { LocalDomain } from '#shared/contract/localDomains.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { estimateMicroUsd } from '#shared/renewalEstimate.ts'
import { usePrices } from '../useDomains.ts'
import { RenewalDialog } from './RenewalDialog.tsx'
import { describeRenewal, getRenewalBadge } from './renewalLabels.ts'

/** Renewal settings of one domain, and any reason that prevents the renewal. */
export function RenewalFacts({ domain: { domain, unicode } }: { domain: LocalDomain }) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data } = useRenewals()
  const yearMicroUsd = useYearPrice(domain)
  const [isChanging, setChanging] = useState(false)
  const present = data?.renewals.find((it) => it.domain === domain)
  const onSettled = () => readAgain(queryClient, renewalsKey)
  const turningOff = useMutation({
    mutationFn: () => agent(setRenewal, { domain, ...toFormSettings(present), enabled: false }),
    onSettled,
  })
  const retrying = useMutation({ mutationFn: () => agent(retryRenewal, { domain }), onSettled })
  if (!data) return <span className="text-faint">…</span>
  const { possible, obstacle } = data
  const mark = getRenewalBadge(present)
  const failure = turningOff.error ?? retrying.error
  const isOn = present?.enabled === true
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="flex min-h-7 items-center gap-1.5">
          <StatusDot tone={mark?.tone ?? 'neutral'} />
          <span>
            {describeRenewal(present)}
            {present?.state === 'planned' && (
              <span className="text-muted"> At most {formatUsd(String(present.max_micro_usd), 'exact')}.</span>
            )}
          </span>
        </span>
        {(possible || isOn) && (
          <Button size="small" icon={CalendarSync} onClick={() => setChanging(true)}>
            {isOn ? 'Change…' : 'Turn on auto-renew…'}
          </Button>
        )}
        {isOn && (
          <Button size="small" busy={turningOff.isPending} onClick={() => turningOff.mutate()}>
            Turn off
          </Button>
        )}
      </div>
      {obstacle !== null && (
        <p className="max-w-160 text-small text-muted">
          {obstacle}{' '}
          <a href={buildAddress('wallet')} className="font-medium text-accent hover:underline">
            Open Wallet
          </a>
        </p>
      )}
      {present?.problem && (
        <ProblemNotice
          problem={present.problem}
          onRetry={present.state === 'blocked' ? () => retrying.mutate() : undefined}
          isRetrying={retrying.isPending}
        />
      )}
      {present?.state === 'asking' && (
        <a href={buildAddress('approvals')} className="w-fit font-medium text-accent hover:underline">
          Show in Approvals
        </a>
      )}
      {present?.payment_id && (
        <a
          href={buildAddress('payments', present.payment_id)}
          className="w-fit text-small font-medium text-accent hover:underline"
        >
          Show the payment
        </a>
      )}
      {failure && <ErrorNotice error={failure} />}
      {isChanging && (
        <RenewalDialog
          name={unicode}
          present={present}
          yearMicroUsd={yearMicroUsd}
          onClose={() => setChanging(false)}
          onSave={async (settings) => {
            await agent(setRenewal, { domain, ...settings })
            await onSettled()
          }}
        />
      )}
    </div>
  )
}

type ProblemNoticeProps = {
  problem: NonNullable<DomainRenewal['problem']>
  onRetry: (() => void) | undefined
  isRetrying: boolean
}

function ProblemNotice({ problem, onRetry, isRetrying }: ProblemNoticeProps) {
  const openSecurePrompt = useSecurePrompt()
  return (
    <div
      role="status"
      className="flex max-w-160 flex-wrap items-center gap-x-3 gap-y-1.5 rounded-card bg-caution-soft px-3 py-2"
    >
      <p className="min-w-0 flex-1 basis-60">{problem.detail}</p>
      {problem.kind === 'locked' && (
        <Button size="small" onClick={() => void openSecurePrompt({ purpose: 'unlock' })}>
          Unlock wallet
        </Button>
      )}
      {problem.kind === 'budget' && (
        <a href={buildAddress('payments', 'limits')} className="font-medium text-accent hover:underline">
          Show limits
        </a>
      )}
      {onRetry && (
        <Button size="small" icon={RotateCw} busy={isRetrying} onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

function useYearPrice(domain: string): number | undefined {
  const { data } = usePrices()
  return data && estimateMicroUsd(domain, 1, new Map(data.pricing.map(({ tld, renewal }) => [tld, renewal])))
}

function toFormSettings(present: { days_before: number; years: number; max_micro_usd: number } | undefined) {
  const { days_before = 30, years = 1, max_micro_usd = 1 } = present ?? {}
  return { days_before, years, max_micro_usd }
}
