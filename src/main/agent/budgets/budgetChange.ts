import type { PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { ConfirmationText } from '../approvals/describeConfirmation.ts'

type Line = { label: string; value: string }
type Named = ReadonlyMap<string, number>

/** Limits that apply while the stored ones cannot be parsed. They allow no payments. */
export const closedLimits: PaymentBudgetLimits = {
  payment_micro_usd: 0,
  day_micro_usd: 0,
  month_micro_usd: 0,
  hosts: [],
  payees: [],
  local_servers: [],
  ask_first_payee: true,
}

/** Lists changes that allow higher payments than before. Empty if the new limits are equal or stricter. */
export function listLooserLimits(from: PaymentBudgetLimits, to: PaymentBudgetLimits): Line[] {
  const single = [
    { label: 'One payment', before: from.payment_micro_usd, after: to.payment_micro_usd },
    { label: 'Any 24 hours', before: from.day_micro_usd, after: to.day_micro_usd },
    { label: 'A month', before: from.month_micro_usd, after: to.month_micro_usd },
  ]
  const named = [
    ...listLooserNamedLimits(listHosts(from), listHosts(to)),
    ...listLooserNamedLimits(listPayees(from), listPayees(to)),
  ]
  return [
    ...single.filter(({ before, after }) => before !== null && (after === null || after > before)).map(toLine),
    ...named.map(toLine),
    ...to.local_servers
      .filter((it) => !from.local_servers.includes(it))
      .map((label) => ({ label, value: 'on this computer can be reached by programs and models' })),
    ...(from.ask_first_payee && !to.ask_first_payee
      ? [{ label: 'New payees', value: 'are paid without asking you where a rule allows it' }]
      : []),
  ]
}

export function describeBudgetChange(lines: Line[]): ConfirmationText {
  return { title: 'Change your limits?', sentence: 'This allows more to be paid than before.', lines }
}

function toLine({ label, before, after }: { label: string; before: number | null; after: number | null }): Line {
  return { label, value: `${formatLimit(after)}, was ${formatLimit(before)}` }
}

function listLooserNamedLimits(before: Named, after: Named) {
  return [...before].flatMap(([label, limit]) => {
    const next = after.get(label) ?? null
    return next === null || next > limit ? [{ label, before: limit, after: next }] : []
  })
}

function listHosts({ hosts }: PaymentBudgetLimits): Named {
  return new Map(hosts.map((host) => [host.host, host.month_micro_usd]))
}

function listPayees({ payees }: PaymentBudgetLimits): Named {
  return new Map(payees.map((payee) => [payee.payee, payee.month_micro_usd]))
}

function formatLimit(microUsd: number | null): string {
  return microUsd === null ? 'no limit' : `up to ${formatUsd(String(microUsd), 'exact')}`
}
