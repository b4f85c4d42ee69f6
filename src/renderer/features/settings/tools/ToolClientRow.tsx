import { Button } from '#renderer/ui/Button.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import type { ToolClient } from '#shared/contract/toolClients.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { describePolicy, getProfileName } from './describePolicy.ts'

type ToolClientRowProps = { client: ToolClient; onChange: () => void; onRevoke: () => void }

export function ToolClientRow({ client, onChange, onRevoke }: ToolClientRowProps) {
  const { name, profile, key_prefix, last_used_at } = client
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-3.5 py-2.5">
      <div className="min-w-48 flex-1">
        <p className="flex items-baseline gap-2">
          <span className="truncate font-medium">{name}</span>
          <span className="text-small text-muted">{getProfileName(profile)}</span>
          <span className="font-mono text-small text-faint">{key_prefix}…</span>
        </p>
        <p className="text-small text-muted">
          {[describePolicy(client), describeSpending(client)].filter(Boolean).join(' · ')}
        </p>
      </div>
      <div className="flex items-center gap-1">
        <span className="mr-2 text-small whitespace-nowrap text-faint">
          {last_used_at === null ? 'Never used' : <TimeAgo at={last_used_at} />}
        </span>
        <Button size="small" variant="ghost" aria-label={`Change ${name}`} onClick={onChange}>
          Change
        </Button>
        <Button size="small" variant="ghost" aria-label={`Revoke ${name}`} onClick={onRevoke}>
          Revoke
        </Button>
      </div>
    </li>
  )
}

/** Formats spending such as `$0.12 of $5.00 today`. */
function describeSpending({ daily_budget_micro_usd: budget, spent_today_micro_usd: spent }: ToolClient): string {
  if (budget === null) return spent === 0 ? '' : `${formatUsd(spent, 'cents')} today`
  return `${formatUsd(spent, 'cents')} of ${formatUsd(budget, 'cents')} today`
}
