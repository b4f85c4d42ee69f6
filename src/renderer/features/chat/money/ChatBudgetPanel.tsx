import { useQuery } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { Panel } from '#renderer/ui/Panel.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { SpentBar } from '#renderer/ui/SpentBar.tsx'
import { type ChatBudget, getChatBudget } from '#shared/contract/chatMoney.ts'
import type { SpendLimits } from '#shared/contract/chats.ts'
import { chatKeys } from '../data/keys.ts'
import { formatCost } from './amounts.ts'

export function ChatBudgetPanel() {
  const agent = useAgent()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: chatKeys.budget,
    queryFn: ({ signal }) => agent(getChatBudget, {}, { signal }),
    staleTime: 0,
  })
  return (
    <Panel
      title="Chat limits"
      note="Today, until 00:00 UTC"
      actions={
        <Button size="small" variant="ghost" icon={SlidersHorizontal} onClick={() => goTo('chat', 'limits')}>
          Change limits
        </Button>
      }
    >
      {isPending && <SkeletonRows label="Loading limits…" />}
      {error && !data && (
        <div className="p-3">
          <ErrorNotice error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {data && <Limits budget={data} />}
    </Panel>
  )
}

function Limits({ budget: { day, conversation, today } }: { budget: ChatBudget }) {
  const limit = day.hard_micro_usd ?? day.soft_micro_usd
  return (
    <ul className="divide-y divide-line">
      <li className="px-3.5 py-2">
        <p className="flex items-baseline gap-3">
          <span className="flex-1 font-medium">All chats</span>
          <span className="text-muted tabular-nums">
            {formatCost(today.spent_micro_usd)}
            {limit === null ? ' · no limit' : ` of ${formatCost(limit)}`}
          </span>
        </p>
        {limit !== null && <SpentBar share={limit === 0 ? 1 : today.spent_micro_usd / limit} className="mt-1.5" />}
        <p className="mt-1 text-small text-faint">{formatLimits(day)}</p>
      </li>
      <li className="px-3.5 py-2">
        <p className="font-medium">Each chat</p>
        <p className="mt-0.5 text-small text-faint">{formatLimits(conversation)}</p>
      </li>
    </ul>
  )
}

function formatLimits({ soft_micro_usd: soft, hard_micro_usd: hard }: SpendLimits): string {
  if (soft === null && hard === null) return 'No limits'
  const warns = soft === null ? undefined : `warns at ${formatCost(soft)}`
  const stops = hard === null ? 'never stops' : `stops at ${formatCost(hard)}`
  const text = warns === undefined ? stops : `${warns}, ${stops}`
  return text.charAt(0).toUpperCase() + text.slice(1)
}
