import type { ReactNode } from 'react'
import { useLocalStatus } from '#renderer/api/AgentProvider.tsx'
import { usePaymentBudgets } from '#renderer/api/usePaymentBudgets.ts'
import { usePolicy } from '#renderer/api/usePolicy.ts'
import { useWallet } from '#renderer/api/useWallet.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { describeRivals } from '../inbox/rivals.ts'
import { useInbox } from '../inbox/useInbox.ts'
import { describeRemainingBudget } from './describeRemainingBudget.ts'

export function DecisionNotices({ record }: { record: IntentRecord }) {
  const wallet = useNeededWallet(record)
  const threshold = usePolicy().data?.confirm_above_micro_usd
  const shell = useLocalStatus()?.shell
  const rival = describeRivals(record, useInbox().data ?? [])
  const notices = [
    ...(record.blocked_reason === undefined ? [] : [`You can’t approve this now. ${record.blocked_reason}`]),
    ...(rival === undefined ? [] : [rival]),
    ...(record.decision ? [`${record.decision.detail} You can still deny it.`] : []),
    ...(record.needs_confirmation && !record.decision
      ? [
          `Above ${threshold === undefined ? 'your limit' : formatUsd(threshold, 'exact')}: you’ll confirm ${
            shell === 'electron' ? 'in a system dialog' : 'with your passphrase'
          }.`,
        ]
      : []),
    ...(wallet?.state === 'locked' && !record.decision && !(record.needs_confirmation && shell !== 'electron')
      ? ['The wallet is locked. Unlock it to decide.']
      : []),
    ...(wallet?.detail && wallet.state !== 'locked' && wallet.state !== 'unlocked' ? [wallet.detail] : []),
  ]
  return (
    <div className="flex flex-col gap-1.5 empty:hidden">
      {notices.map((notice) => (
        <Notice key={notice}>{notice}</Notice>
      ))}
      {record.kind === 'x402.authorize' && <RemainingBudgets />}
    </div>
  )
}

/**
 * Shows the remaining daily and monthly budgets. Payments are reserved on approval, so this payment is not included.
 */
function RemainingBudgets() {
  const { data } = usePaymentBudgets()
  const text = describeRemainingBudget(data?.states ?? [])
  return text === undefined ? null : <p className="text-small text-faint tabular-nums">{text}</p>
}

/** Returns the wallet that a request needs. Tool calls need no wallet. */
function useNeededWallet({ kind }: IntentRecord) {
  const { data } = useWallet()
  return kind === 'tool.call' ? undefined : data
}

function Notice({ children }: { children: ReactNode }) {
  return <p className="rounded-card bg-accent-soft px-3 py-2">{children}</p>
}
