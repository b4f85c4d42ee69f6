import { AppError } from '#shared/appError.ts'
import type { LimitState, Spend, SpendLimits } from '#shared/contract/chats.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { SpendActual, SpendFilter, SpendRepository, SpendScope, SpendSum } from './spendRepository.ts'

/** Completion that needs a reservation. */
export type SpendRequest = {
  id: string
  model: string
  /**
   * Plans the maximum cost within the budget.
   * @param availableMicroUsd `Infinity` without a limit
   * @returns at most `availableMicroUsd`, or undefined if that is insufficient for any completion
   */
  plan(availableMicroUsd: number): number | undefined
}

/** Keys of the scopes that a cost counts toward. */
export type SpendScopeKeys = {
  conversationId: string
  /** Limits of this conversation. Null for the defaults. */
  ownLimits: SpendLimits | null
}

/**
 * Limits of the cost of chats, per UTC day and per conversation. The maximum cost of a completion is reserved before
 * the request and counts as spent until it is settled. Reservations are stored in the database and survive a crash. The
 * sum of spent and reserved amounts never exceeds a hard limit, regardless of concurrency. All calls are synchronous
 * and belong in the transaction that writes the corresponding messages.
 */
export type SpendBudgets = {
  /**
   * Reserves all requests or none. The available amount is distributed evenly; unused shares go to the other requests.
   * @returns the limits at which a warning is due
   * @throws AppError `budget/exceeded` with the limit, with nothing reserved
   */
  reserve(scope: SpendScopeKeys, requests: readonly SpendRequest[]): LimitState[]
  /** Settles a reservation at most once. No-op if there is no reservation. @returns whether it settled */
  settle(id: string, actual: SpendActual): boolean
  /** Settles the full reserved amount, because the actual cost is unknown. */
  markSpent(id: string): void
  /** Releases a reservation because nothing was spent. */
  release(id: string): void
  /** Lists unsettled reservations of a previous run. */
  listUnsettled(): string[]
  /** States of the conversation's limits, then of the daily ones. Without a conversation, only the daily ones. */
  states(scope: SpendScopeKeys | undefined): LimitState[]
  /** Remaining amount under the hard limits. `Infinity` without a hard limit. */
  available(scope: SpendScopeKeys | undefined): number
  /** Checks without reserving anything. @returns the reason why no plan fits, or undefined */
  refusal(scope: SpendScopeKeys | undefined, requests: readonly SpendRequest[]): AppError | undefined
  limits(): { day: SpendLimits; conversation: SpendLimits }
  change(limits: { day?: SpendLimits | undefined; conversation?: SpendLimits | undefined }): void
  sumSpend(conversationId: string): Spend
  sums(by: 'day' | 'model' | 'conversation', filter: SpendFilter, limit: number): SpendSum[]
  total(filter: SpendFilter): Spend
  resetsAtMs(): number
}

const noSpend: SpendActual = {
  costMicroUsd: 0,
  savedMicroUsd: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  estimated: true,
}
const dayMs = 24 * 3600 * 1000

/** Budget across all spending. */
export type SharedBudget = {
  remainingForAll(): number
  /** Returns one sentence that explains why the remaining amount is too small. */
  explain(): string | undefined
}
type Options = { spending: SpendRepository; shared?: SharedBudget; now: () => number }

export function createSpendBudgets({ spending, shared, now }: Options): SpendBudgets {
  const today = (): string => new Date(now()).toISOString().slice(0, 10)

  const toState = (scope: SpendScope, key: string, limits: SpendLimits): LimitState => {
    const spentMicroUsd = spending.sumSpent(scope, key)
    const reserved = spending.sumReserved(scope, key)
    const { soft_micro_usd: soft, hard_micro_usd: hard } = limits
    const state =
      hard !== null && spentMicroUsd + reserved >= hard
        ? 'stopped'
        : soft !== null && spentMicroUsd + reserved >= soft
          ? 'warning'
          : 'within'
    return { scope, spent_micro_usd: spentMicroUsd, reserved_micro_usd: reserved, ...limits, state }
  }
  const states = (scope: SpendScopeKeys | undefined): LimitState[] => [
    ...(scope
      ? [toState('conversation', scope.conversationId, scope.ownLimits ?? spending.limits('conversation'))]
      : []),
    toState('day', today(), spending.limits('day')),
  ]
  const getSharedRemaining = (): number => shared?.remainingForAll() ?? Number.POSITIVE_INFINITY
  const available = (scope: SpendScopeKeys | undefined): number =>
    Math.min(...states(scope).map(getRemaining), getSharedRemaining())
  const toRefusal = (scope: SpendScopeKeys | undefined): AppError => {
    const limit = tightest(scope)
    const reason =
      getSharedRemaining() < (limit ? getRemaining(limit) : Number.POSITIVE_INFINITY) ? shared?.explain() : undefined
    return reason === undefined ? toExceededError(limit) : new AppError('budget/exceeded', `Not sent: ${reason}`)
  }
  /** Returns the limit with the smallest remaining amount. */
  const tightest = (scope: SpendScopeKeys | undefined): LimitState | undefined =>
    states(scope)
      .filter((it) => it.hard_micro_usd !== null)
      .sort((a, b) => getRemaining(a) - getRemaining(b))[0]

  return {
    reserve: (scope, requests) =>
      spending.atomically(() => {
        const amounts = distributeSpend(requests, available(scope))
        if (!amounts) throw toRefusal(scope)
        for (const [index, { id, model }] of requests.entries()) {
          spending.addReservation({
            id,
            model,
            conversationId: scope.conversationId,
            day: today(),
            amountMicroUsd: amounts[index] ?? 0,
          })
        }
        return states(scope).filter((it) => it.state !== 'within')
      }),
    settle: (id, actual) =>
      spending.atomically(() => {
        const reservation = spending.takeReservation(id)
        if (reservation) spending.addEntry(reservation, actual, now())
        return reservation !== undefined
      }),
    markSpent: (id) =>
      spending.atomically(() => {
        const reservation = spending.takeReservation(id)
        if (reservation) spending.addEntry(reservation, { ...noSpend, costMicroUsd: reservation.amountMicroUsd }, now())
      }),
    release: (id) => void spending.takeReservation(id),
    listUnsettled: () => spending.openReservations().map(({ id }) => id),
    states,
    available,
    refusal: (scope, requests) => (distributeSpend(requests, available(scope)) ? undefined : toRefusal(scope)),
    limits: () => ({ day: spending.limits('day'), conversation: spending.limits('conversation') }),
    change: (limits) =>
      spending.atomically(() => {
        for (const scope of ['day', 'conversation'] as const) {
          const scopeLimits = limits[scope]
          if (!scopeLimits) continue
          assertLimitOrder(scopeLimits, scope)
          spending.setLimits(scope, scopeLimits)
        }
      }),
    sumSpend: spending.ofConversation,
    sums: spending.sums,
    total: spending.total,
    resetsAtMs: () => (Math.floor(now() / dayMs) + 1) * dayMs,
  }
}

/** @throws AppError `request/invalid` if the soft limit exceeds the hard one */
export function assertLimitOrder({ soft_micro_usd: soft, hard_micro_usd: hard }: SpendLimits, field: string): void {
  if (soft === null || hard === null || soft <= hard) return
  throw new AppError('request/invalid', `\`${field}.soft_micro_usd\` must not be above \`${field}.hard_micro_usd\`.`)
}

function getRemaining({
  hard_micro_usd: hard,
  spent_micro_usd: spentMicroUsd,
  reserved_micro_usd: reserved,
}: LimitState): number {
  return hard === null ? Number.POSITIVE_INFINITY : Math.max(0, hard - spentMicroUsd - reserved)
}

/**
 * @returns an amount for each request, with a sum of at most `available`, or undefined if one of them would get too
 * little
 */
function distributeSpend(requests: readonly SpendRequest[], available: number): number[] | undefined {
  const maxCosts = requests.map((request) => request.plan(Number.POSITIVE_INFINITY) ?? 0)
  const amounts: number[] = []
  let remaining = available
  const cheapestFirst = requests
    .map((request, index) => ({ request, index }))
    .sort((a, b) => (maxCosts[a.index] ?? 0) - (maxCosts[b.index] ?? 0))
  for (const [done, { request, index }] of cheapestFirst.entries()) {
    const share = remaining === Number.POSITIVE_INFINITY ? remaining : Math.floor(remaining / (requests.length - done))
    const amount = request.plan(share)
    if (amount === undefined || amount > share) return undefined
    amounts[index] = amount
    remaining -= amount
  }
  return amounts
}

const names = { conversation: "this conversation's limit", day: "today's limit" } as const

function toExceededError(limit: LimitState | undefined): AppError {
  if (!limit) return new AppError('budget/exceeded', 'The spending limit leaves nothing for this message.')
  const { scope, hard_micro_usd: hard, spent_micro_usd: spentMicroUsd, reserved_micro_usd: reserved } = limit
  const reservedText = reserved > 0 ? ` and ${formatDollars(reserved)} reserved for running answers` : ''
  return new AppError(
    'budget/exceeded',
    `Not sent: ${names[scope]} of ${formatDollars(hard ?? 0)} leaves too little (${formatDollars(spentMicroUsd)} spent${reservedText}).`,
    { fields: { limit } },
  )
}

/** Rounds up to cents, or to a hundredth of a cent for amounts below one cent. */
function formatDollars(microUsd: number): string {
  if (microUsd >= 10_000) return formatUsd(microUsd, 'cents', 'up')
  return formatUsd(Math.ceil(microUsd / 100) * 100, 'exact')
}
