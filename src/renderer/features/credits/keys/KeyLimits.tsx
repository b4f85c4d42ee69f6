import { KeyRound } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { SpentBar } from '#renderer/ui/SpentBar.tsx'
import type { ApiKey } from '#shared/contract/accounts.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { useCreditKeys } from '../useCredits.ts'

export function KeyLimits() {
  const { data, error, refetch } = useCreditKeys()
  const limited = (data ?? []).filter(({ daily_limit_cents: limit }) => limit !== null)
  return (
    <Panel
      title="API key limits"
      note={limited.length > 0 ? 'Today, until 00:00 UTC' : undefined}
      actions={
        <Button size="small" variant="ghost" icon={KeyRound} onClick={() => goTo('settings', 'keys')}>
          API keys
        </Button>
      }
    >
      {error && !data ? (
        <div className="p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      ) : limited.length === 0 ? (
        <NothingYet>No key has a daily limit.</NothingYet>
      ) : (
        <ul className="divide-y divide-line">
          {limited.map((key) => (
            <Limit key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Limit({ apiKey: { name, models, daily_limit_cents, spent_today_cents } }: { apiKey: ApiKey }) {
  const limit = daily_limit_cents ?? 0
  const spent = spent_today_cents ?? 0
  const share = limit === 0 ? 1 : spent / limit
  return (
    <li className="px-3.5 py-2">
      <p className="flex items-baseline gap-3">
        <span className="min-w-0 flex-1 truncate font-medium">{name}</span>
        <span className="text-muted tabular-nums">
          {formatUsdCents(spent)} of {formatUsdCents(limit)}
        </span>
      </p>
      <SpentBar share={share} className="mt-1.5" />
      {models && <p className="mt-1 truncate text-small text-faint">Only {models.join(', ')}</p>}
    </li>
  )
}
