import { AppError } from '#shared/appError.ts'
import type { BudgetState, PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { toIsoTime } from '#shared/time.ts'
import type { ReservationRefusal, ReservedUse } from '../approvals/reservations.ts'
import type { PaymentBudgetRepository } from './paymentBudgetRepository.ts'
import type { SharedBudget } from './spendBudgets.ts'

/** Payment as input for the budgets. */
export type BudgetInput = Pick<ReservedUse, 'host' | 'scope' | 'amountMicroUsd' | 'by'>

/**
 * Limits of all payments: USDC payments of any kind, and, per day and month, the cost of chats. Signed amounts count
 * until they are known to be unused.
 */
export type PaymentBudgets = {
  /** @returns the reason why the payment is denied or needs the user, or undefined if it is allowed */
  refusal(use: BudgetInput): ReservationRefusal | undefined
  /** Limits that apply to a payment. */
  statesFor(use: Pick<BudgetInput, 'host' | 'scope'>): BudgetState[]
  states(): BudgetState[]
  /** @throws AppError `data/unusable` if the limits cannot be parsed */
  limits(): PaymentBudgetLimits
  /**
   * Amount that remains for all spending, including chats, under the daily and monthly limits. `Infinity` without
   * limits.
   */
  remainingForAll(): number
  /** Returns the daily or monthly budget with the smaller remaining amount. */
  tightest(): BudgetState | undefined
}

const dayMs = 24 * 3600 * 1000
/** Larger sums would no longer be exact. */
const maxMicroUsd = 1_000_000_000_000

export function createPaymentBudgets(options: { records: PaymentBudgetRepository; now: () => number }): PaymentBudgets {
  const { records, now } = options

  const limits = (): PaymentBudgetLimits => {
    const limits = records.limits()
    if (limits) return limits
    throw new AppError(
      'data/unusable',
      'The payment limits cannot be read. Every payment is refused until you set them again.',
    )
  }
  const monthStart = (): number => {
    const today = new Date(now())
    return Date.UTC(today.getUTCFullYear(), today.getUTCMonth(), 1)
  }
  const monthEnd = (): number => {
    const today = new Date(now())
    return Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1)
  }
  const toState = (budget: Pick<BudgetState, 'scope' | 'key' | 'limit_micro_usd'>): BudgetState => {
    const { spent, reserved } = readUsed(budget)
    const { limit_micro_usd: limit, scope } = budget
    return {
      ...budget,
      used_micro_usd: spent,
      held_micro_usd: reserved,
      remaining_micro_usd: limit === null ? null : Math.max(0, limit - spent - reserved),
      resets_at: scope === 'payment' || scope === 'day' ? null : toIsoTime(monthEnd()),
    }
  }
  const readUsed = ({ scope, key }: Pick<BudgetState, 'scope' | 'key'>) => {
    // One millisecond earlier, so that the first millisecond of the month is included.
    const monthMs = monthStart() - 1
    if (scope === 'payment') return { spent: 0, reserved: 0 }
    if (scope === 'host') return records.sum({ sinceMs: monthMs, host: key ?? '' })
    if (scope === 'payee') return records.sum({ sinceMs: monthMs, payee: key ?? '' })
    const sinceMs = scope === 'day' ? now() - dayMs : monthMs
    const [paid, chats] = [records.sum({ sinceMs }), records.chats(sinceMs)]
    return { spent: paid.spent + chats.spent, reserved: paid.reserved + chats.reserved }
  }
  const common = ({ day_micro_usd: day, month_micro_usd: month }: PaymentBudgetLimits): BudgetState[] => [
    toState({ scope: 'day', key: null, limit_micro_usd: day }),
    toState({ scope: 'month', key: null, limit_micro_usd: month }),
  ]
  const single = ({ payment_micro_usd: limit }: PaymentBudgetLimits): BudgetState[] =>
    limit === null ? [] : [toState({ scope: 'payment', key: null, limit_micro_usd: limit })]
  const hostState = ({ host, month_micro_usd: limit_micro_usd }: PaymentBudgetLimits['hosts'][number]) =>
    toState({ scope: 'host', key: host, limit_micro_usd })
  const payeeState = ({ payee, month_micro_usd: limit_micro_usd }: PaymentBudgetLimits['payees'][number]) =>
    toState({ scope: 'payee', key: payee, limit_micro_usd })

  const statesFor: PaymentBudgets['statesFor'] = ({ host, scope }) => {
    const all = limits()
    return [
      ...single(all),
      ...common(all),
      ...all.hosts.filter((it) => it.host === host).map(hostState),
      ...all.payees.filter((it) => it.payee === scope).map(payeeState),
    ]
  }
  const states = (): BudgetState[] => {
    const all = limits()
    return [...single(all), ...common(all), ...all.hosts.map(hostState), ...all.payees.map(payeeState)]
  }

  return {
    limits,
    statesFor,
    states,
    remainingForAll: () => Math.min(...common(limits()).map(getRemaining)),
    tightest: () =>
      common(limits())
        .filter((it) => it.limit_micro_usd !== null)
        .sort((a, b) => getRemaining(a) - getRemaining(b))[0],
    refusal({ host, scope, amountMicroUsd, by }) {
      const limits = records.limits()
      if (!limits) return denyReservation('The payment limits cannot be read.')
      const { network, payTo } = parsePayee(scope)
      if (host === null || amountMicroUsd === null || payTo === '') return denyReservation('The payment has no payee.')
      if (amountMicroUsd > BigInt(maxMicroUsd))
        return denyReservation(`The payment is above ${formatUsd(String(maxMicroUsd), 'exact')}.`)
      const amount = Number(amountMicroUsd)
      const full = statesFor({ host, scope }).find((it) => getRemaining(it) < amount)
      if (full) return denyReservation(describeExceeded(full))
      const earlierPayee = records.findPayee(host, network)
      if (earlierPayee !== undefined && earlierPayee !== payTo) {
        return denyReservation(`The payee of ${host} changed from ${earlierPayee} to ${payTo}.`)
      }
      if (earlierPayee === undefined && limits.ask_first_payee && by !== 'person') {
        return { effect: 'ask', detail: `This is the first payment to ${payTo} at ${host}.` }
      }
      return undefined
    },
  }
}

/** Adapts the payment budgets for the budgets of chats. */
export function createSharedBudget({ remainingForAll, tightest }: PaymentBudgets): SharedBudget {
  return {
    remainingForAll,
    explain() {
      const limit = tightest()
      return limit && describeExceeded(limit)
    },
  }
}

/** Parses a scope such as `eip155:8453:0x…`. */
export function parsePayee(scope: string | null): { network: string; payTo: string } {
  const [, network = '', payTo = ''] = /^([^:]+:[^:]+):(.+)$/.exec(scope ?? '') ?? []
  return { network, payTo }
}

function getRemaining({ scope, limit_micro_usd: limit, remaining_micro_usd: remaining }: BudgetState): number {
  return scope === 'payment' ? (limit ?? Number.POSITIVE_INFINITY) : (remaining ?? Number.POSITIVE_INFINITY)
}

const names = {
  payment: 'one payment',
  day: 'any 24 hours',
  month: 'this month',
  host: 'this host in this month',
  payee: 'this payee in this month',
} as const

/** Formats the error, such as `Your limit for any 24 hours is $10.00, of which $3.00 is left.` */
export function describeExceeded({
  scope,
  limit_micro_usd: limit,
  remaining_micro_usd: remaining,
}: BudgetState): string {
  const limitText = formatUsd(String(limit ?? 0), 'exact')
  if (scope === 'payment') return `The payment is above your limit of ${limitText} per payment.`
  return `Your limit for ${names[scope]} is ${limitText}, of which ${formatUsd(String(remaining ?? 0), 'exact')} is left.`
}

function denyReservation(detail: string): ReservationRefusal {
  return { effect: 'deny', detail }
}
