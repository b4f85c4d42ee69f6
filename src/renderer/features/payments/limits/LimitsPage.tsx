import { useQueryClient } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { NothingYet, Panel } from '#renderer/ui/Panel.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { SpentBar } from '#renderer/ui/SpentBar.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { type BudgetState, forgetPayee, type PaymentBudgets } from '#shared/contract/paymentBudgets.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { budgetsKey, usePaymentBudgets } from '../../../api/usePaymentBudgets.ts'
import { describeBudget, formatCents, formatMicroUsd } from '../describePayment.ts'
import { LimitsDialog } from './LimitsDialog.tsx'
import { PlannedRenewals } from './PlannedRenewals.tsx'

export function LimitsPage() {
  const { data, error, isPending, refetch } = usePaymentBudgets()
  const [isChanging, setChanging] = useState(false)
  return (
    <PageScroll width="table" className="flex flex-col gap-6 py-5">
      <Panel
        title="Limits"
        note="Domains, credits, renewals, chats and other payments share these limits, including test money"
        actions={
          <Button size="small" icon={SlidersHorizontal} disabled={!data} onClick={() => setChanging(true)}>
            Change limits
          </Button>
        }
      >
        {isPending ? (
          <div className="p-4">
            <SkeletonRows label="Loading limits…" count={4} />
          </div>
        ) : data ? (
          <>
            <ul aria-label="Payment limits" className="divide-y divide-line">
              {sortBudgets(data).map((budget) => (
                <BudgetRow key={`${budget.scope} ${budget.key}`} budget={budget} />
              ))}
            </ul>
            <p className="border-t border-line px-3.5 py-2 text-small text-faint">
              {data.limits.ask_first_payee
                ? 'New payees need your approval.'
                : 'New payees need no approval unless a limit or policy requires it.'}
            </p>
          </>
        ) : (
          <div className="p-3">
            <ErrorNotice error={error} onRetry={() => void refetch()} />
          </div>
        )}
      </Panel>
      <PlannedRenewals />
      {data && <PayeesPanel payees={data.payees} />}
      {data && isChanging && <LimitsDialog limits={data.limits} onClose={() => setChanging(false)} />}
    </PageScroll>
  )
}

const order: readonly BudgetState['scope'][] = ['payment', 'day', 'month', 'host', 'payee']

/** Sorts budgets. Includes the limit per payment, although it has no usage. */
function sortBudgets({ states, limits }: PaymentBudgets): BudgetState[] {
  const hasPayment = states.some(({ scope }) => scope === 'payment')
  const one: BudgetState = {
    ...{ scope: 'payment', key: null, limit_micro_usd: limits.payment_micro_usd, used_micro_usd: 0 },
    ...{ held_micro_usd: 0, remaining_micro_usd: limits.payment_micro_usd, resets_at: null },
  }
  const all = hasPayment ? states : [one, ...states]
  return all.toSorted((a, b) => order.indexOf(a.scope) - order.indexOf(b.scope))
}

function BudgetRow({ budget }: { budget: BudgetState }) {
  const {
    scope,
    limit_micro_usd: limit,
    used_micro_usd: used,
    held_micro_usd: onHold,
    remaining_micro_usd: left,
  } = budget
  const { resets_at: resetsAt } = budget
  const isOne = scope === 'payment'
  const total = used + onHold
  return (
    <li className="grid grid-cols-[13rem_minmax(0,1fr)_9rem] items-center gap-x-4 gap-y-1 px-3.5 py-2 max-narrow:grid-cols-[minmax(0,1fr)_9rem]">
      <div className="min-w-0">
        <p className="truncate font-medium" title={describeBudget(budget)}>
          {describeBudget(budget)}
        </p>
        <p className="text-small text-faint">
          {isOne ? 'Maximum per payment' : scope === 'day' ? 'Rolling' : resetText(resetsAt)}
        </p>
      </div>
      <div className="min-w-0 max-narrow:col-span-2 max-narrow:row-start-2">
        {!isOne && limit !== null && <SpentBar share={limit === 0 ? 1 : total / limit} />}
        {!isOne && (
          <p className="mt-1 text-small text-muted tabular-nums">
            {formatCents(used)} paid{onHold > 0 && ` · ${formatCents(onHold)} held`}
          </p>
        )}
      </div>
      <p className="text-right tabular-nums max-narrow:col-start-2 max-narrow:row-start-1">
        {limit === null ? (
          <span className="text-muted">No limit</span>
        ) : isOne ? (
          <span className="font-medium">{formatMicroUsd(limit)}</span>
        ) : (
          <>
            <span className="font-medium">{formatCents(left ?? 0)} left</span>
            <span className="block text-small text-muted">of {formatMicroUsd(limit)}</span>
          </>
        )}
      </p>
    </li>
  )
}

function resetText(resetsAt: string | null): string {
  if (resetsAt === null) return 'Each month'
  const day = new Date(resetsAt).toLocaleDateString('en', { day: 'numeric', month: 'long', timeZone: 'UTC' })
  return `Until ${day}, 00:00 UTC`
}

function PayeesPanel({ payees }: Pick<PaymentBudgets, 'payees'>) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [forgotten, setForgotten] = useState<string>()
  return (
    <Panel title="Known payees" note="Payments are refused if a site changes its payee">
      {payees.length === 0 ? (
        <NothingYet>No payees yet.</NothingYet>
      ) : (
        <ul aria-label="Known payees" className="divide-y divide-line">
          {payees.map(({ host, network, pay_to: payTo, since }) => (
            <li
              key={`${host} ${network}`}
              className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-1 px-3.5 py-1.5"
            >
              <span className="min-w-40 flex-1 truncate font-medium">{host}</span>
              <code className="font-mono text-small text-muted" title={payTo}>
                {shortenAddress(payTo)}
              </code>
              <span className="text-small text-faint">{network}</span>
              <TimeAgo at={since} spelled />
              <Button size="small" variant="ghost" onClick={() => setForgotten(host)}>
                Forget
              </Button>
            </li>
          ))}
        </ul>
      )}
      <ConfirmDialog
        open={forgotten !== undefined}
        onOpenChange={() => setForgotten(undefined)}
        title={`Forget the payee of ${forgotten}?`}
        description="The site can then use another payee. You are asked before the next payment there."
        confirmLabel="Forget payee"
        onConfirm={async () => {
          await agent(forgetPayee, { host: forgotten ?? '' })
          await readAgain(queryClient, budgetsKey)
        }}
      />
    </Panel>
  )
}
