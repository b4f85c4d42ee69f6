import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { type ChatBudget, changeChatBudget } from '#shared/contract/chatMoney.ts'
import { chatKeys } from '../data/keys.ts'
import { useChatBudget } from '../data/useChatBudget.ts'
import { formatCost } from '../money/amounts.ts'
import { LimitFields } from './LimitFields.tsx'
import { limitFaults, toLimitsDraft, toSpendLimits } from './settingsDraft.ts'

/** Limits of all chats: per day, and for each chat without its own limit. */
export function BudgetSettings() {
  const { data, error, isPending, refetch } = useChatBudget()
  return (
    <section aria-label="Limits for all chats" className="p-3">
      {isPending && <SkeletonRows label="Loading limits…" />}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data && <BudgetForm key={JSON.stringify([data.day, data.conversation])} budget={data} />}
    </section>
  )
}

function BudgetForm({ budget }: { budget: ChatBudget }) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const initial = { day: toLimitsDraft(budget.day), conversation: toLimitsDraft(budget.conversation) }
  const [draft, setDraft] = useState(initial)
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const faults = { day: limitFaults(draft.day), conversation: limitFaults(draft.conversation) }
  const isChanged = JSON.stringify(draft) !== JSON.stringify(initial)
  const save = async () => {
    setTried(true)
    const isWrong = Object.keys(faults.day).length + Object.keys(faults.conversation).length > 0
    if (busy || isWrong) return
    setBusy(true)
    setFailure(undefined)
    try {
      await agent(changeChatBudget, { day: toSpendLimits(draft.day), conversation: toSpendLimits(draft.conversation) })
      await readAgain(queryClient, chatKeys.all)
    } catch (refusal) {
      setFailure(refusal)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form
      noValidate
      aria-label="Limits for all chats"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
      className="flex flex-col gap-4"
    >
      <fieldset className="flex flex-col gap-1.5">
        <legend className="mb-1.5 font-medium">All chats, per day</legend>
        <LimitFields
          limits={draft.day}
          onChange={(day) => setDraft({ ...draft, day })}
          faults={tried ? faults.day : {}}
        />
        <p className="text-small text-faint">
          {formatCost(budget.today.spent_micro_usd)} spent today. Resets at midnight UTC.
        </p>
      </fieldset>
      <fieldset className="flex flex-col gap-1.5">
        <legend className="mb-1.5 font-medium">Chats without their own limits</legend>
        <LimitFields
          limits={draft.conversation}
          onChange={(conversation) => setDraft({ ...draft, conversation })}
          faults={tried ? faults.conversation : {}}
        />
      </fieldset>
      {failure !== undefined && <ErrorNotice error={failure} />}
      <div className="flex justify-end gap-2">
        <Button size="small" type="submit" busy={busy} disabled={!isChanged}>
          Save limits
        </Button>
      </div>
    </form>
  )
}
