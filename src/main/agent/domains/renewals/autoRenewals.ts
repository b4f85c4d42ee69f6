import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { RenewalProblem } from '#shared/contract/domainRenewals.ts'
import type { Domain } from '#shared/contract/domains.ts'
import type { IntentRecord, Requester } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import type { StoredPayment } from '../../payments/paymentRepository.ts'
import { getDueAtMs, getNextAttemptMs, gracePeriodMs } from './renewalPlan.ts'
import type { RenewalCycle, RenewalRepository, Settings } from './renewalRepository.ts'

/** Requester of automatic renewals in policies and the activity log. */
export const autoRenewRequester: Requester = { kind: 'agent', id: 'auto-renew', name: 'Auto-renew' }

export type RegisteredName = Pick<Domain, 'domain' | 'expires_at'>

/** Renewal that is started in the transaction that stores its intent. */
export type RenewalOrder = {
  domain: string
  years: number
  capMicroUsd: number
  ifExpiresAt: string
  onStored: (intent: IntentRecord) => void
}

/** State change that the user is notified of. */
export type RenewalEvent = { domain: string; state: RenewalCycle['state']; problem: RenewalProblem | null }

/**
 * Renews domains before they expire. Each expiry has one turn, and a turn has at most one open payment: the next
 * payment starts only once it is certain that the previous one was not and will not be made. Payment outcomes are read
 * from the payment journal, so no state is lost on a crash.
 */
export type AutoRenewals = {
  /** Runs due renewals. @param domains known domains of the account */
  sweep(domains: readonly RegisteredName[], signal: AbortSignal): Promise<RenewalEvent[]>
  /** Retries renewals with these problems in the next sweep. */
  unblock(kinds: readonly RenewalProblem['kind'][], domain?: string): void
  /** Called when the user changed the settings. Declined renewals are submitted again. */
  onSettingsChange(settings: Settings, expiresAtMs: number): void
  findCycle(name: RegisteredName): RenewalCycle | undefined
  /** @returns the time of the next due action, or undefined if nothing is scheduled */
  nextAtMs(domains: readonly RegisteredName[]): number | undefined
}

type Options = {
  records: RenewalRepository
  approvals: Pick<Approvals, 'get' | 'cancel' | 'checkUnlocked'>
  findPayment: (intentId: string) => StoredPayment | undefined
  /** @throws AppError if nothing was signed */
  buy: (order: RenewalOrder, signal: AbortSignal) => Promise<{ wasFree: boolean }>
  /** Fetches the domain from the service, bypassing the cache. */
  read: (domain: string) => Promise<RegisteredName>
  /** Runs in the transaction that stores the change. */
  note: (news: RenewalEvent) => void
  now: () => number
  log: Log
}

/** Delay before other renewals are submitted while the approval queue is full. */
const fullQueueRetryMs = 60_000
/** Interval for checking a paid renewal until the registrar confirms it. */
const confirmationIntervalMs = 5 * 60_000

export function createAutoRenewals(options: Options): AutoRenewals {
  const { records, now } = options
  const turns = createTurns(options)
  const settle = createSettlement(options, turns)
  const attempt = createAttempt(options, turns)

  const findTurn = (settings: Settings, expiresAtMs: number): RenewalCycle =>
    records.turn(settings.domain, expiresAtMs) ?? {
      ...{ domain: settings.domain, expiresAtMs, state: 'planned', intentId: null, attempts: 0 },
      ...{ nextAtMs: null, problem: null },
    }
  const isDue = (turn: RenewalCycle, settings: Settings): boolean => {
    const nowMs = now()
    const isInTime = getDueAtMs(turn.expiresAtMs, settings) <= nowMs && nowMs < turn.expiresAtMs + gracePeriodMs
    return turn.state === 'planned' && isInTime && (turn.nextAtMs ?? 0) <= nowMs
  }

  return {
    async sweep(domains, signal) {
      const news: RenewalEvent[] = []
      const names = new Map(domains.map((domain) => [domain.domain, domain]))
      const settleBegun = async (): Promise<void> => {
        for (const turn of records.turns()) {
          if (turn.state === 'begun' && !signal.aborted) await settle(turn, names.get(turn.domain), news)
        }
      }
      await settleBegun()
      for (const settings of records.settings()) {
        const name = names.get(settings.domain)
        if (signal.aborted || !name || !settings.enabled) continue
        const turn = findTurn(settings, Date.parse(name.expires_at))
        if (isDue(turn, settings) && (await attempt(settings, turn, { news, signal })) === 'full') break
      }
      if (!signal.aborted) await settleBegun()
      return news
    },
    unblock(kinds, domain) {
      for (const turn of records.turns()) {
        const isRequested = domain === undefined || turn.domain === domain
        if (turn.state !== 'planned' || !isRequested || !turn.problem || !kinds.includes(turn.problem.kind)) continue
        records.keepTurn({ ...turn, nextAtMs: now() })
      }
    },
    onSettingsChange({ domain, enabled }, expiresAtMs) {
      const turn = records.turn(domain, expiresAtMs)
      const isOpenAgain = turn?.state === 'declined' || turn?.state === 'planned' || turn?.state === 'superseded'
      if (turn && isOpenAgain && enabled) {
        records.keepTurn({ ...turn, state: 'planned', intentId: null, attempts: 0, nextAtMs: now(), problem: null })
      }
    },
    findCycle: ({ domain, expires_at }) => records.turn(domain, Date.parse(expires_at)),
    nextAtMs(domains) {
      const names = new Map(domains.map((domain) => [domain.domain, Date.parse(domain.expires_at)]))
      const turns = new Map(
        records.turns().map((renewalCycle) => [`${renewalCycle.domain} ${renewalCycle.expiresAtMs}`, renewalCycle]),
      )
      let next = Number.POSITIVE_INFINITY
      for (const settings of records.settings()) {
        const expiresAtMs = names.get(settings.domain)
        if (!settings.enabled || expiresAtMs === undefined || now() >= expiresAtMs + gracePeriodMs) continue
        const turn = turns.get(`${settings.domain} ${expiresAtMs}`)
        if (turn && turn.state !== 'planned') continue
        next = Math.min(next, Math.max(getDueAtMs(expiresAtMs, settings), turn?.nextAtMs ?? 0))
      }
      for (const { state, nextAtMs } of turns.values())
        if (state === 'begun' && nextAtMs) next = Math.min(next, nextAtMs)
      return Number.isFinite(next) ? next : undefined
    },
  }
}

type Turns = {
  /** Stores a changed turn and adds an event that the user is notified of. */
  change(turn: RenewalCycle, change: Partial<RenewalCycle>, news: RenewalEvent[]): void
  /** Schedules the next attempt. */
  recordFailure(turn: RenewalCycle, problem: RenewalProblem, news: RenewalEvent[]): void
}

function createTurns({ records, note, now }: Options): Turns {
  const change: Turns['change'] = (turn, changes, news) => {
    const after = { ...turn, ...changes }
    const isNews = after.state !== turn.state || after.problem?.kind !== turn.problem?.kind
    records.atomically(() => {
      records.keepTurn(after)
      if (isNews && isNotified(after)) {
        const fields = { domain: after.domain, state: after.state, problem: after.problem }
        note(fields)
        news.push(fields)
      }
    })
  }
  return {
    change,
    recordFailure(turn, problem, news) {
      const attempts = turn.attempts + 1
      const nextAtMs = getNextAttemptMs(attempts, now())
      change(turn, { state: 'planned', intentId: null, attempts, nextAtMs, problem }, news)
    },
  }
}

/** Creates the step that settles a renewal whose payment has started. */
function createSettlement({ records, approvals, findPayment, read, now }: Options, turns: Turns) {
  const settlePaid = async (
    turn: RenewalCycle,
    { payment, isRenewed, news }: { payment: StoredPayment; isRenewed: boolean; news: RenewalEvent[] },
  ): Promise<void> => {
    const status = payment.answer?.status ?? 0
    if (isRenewed || (status >= 200 && status < 300)) {
      turns.change(turn, { state: 'renewed', nextAtMs: null, problem: null }, news)
    } else if (status >= 400 && status < 500) {
      const detail = `${payment.record.title}: the registrar refused. The money was added to your credits. Renew the domain manually.`
      turns.change(turn, { state: 'credited', nextAtMs: null, problem: { kind: 'service', detail } }, news)
    } else if ((turn.nextAtMs ?? 0) <= now()) {
      const name = await read(turn.domain).catch(() => undefined)
      const isRenewed = name !== undefined && Date.parse(name.expires_at) > turn.expiresAtMs
      const detail = 'Paid, but the registrar has not confirmed the renewal yet. Steward will not pay again.'
      if (isRenewed) turns.change(turn, { state: 'renewed', nextAtMs: null, problem: null }, news)
      else turns.change(turn, { nextAtMs: now() + confirmationIntervalMs, problem: { kind: 'service', detail } }, news)
    }
  }

  return async (turn: RenewalCycle, name: RegisteredName | undefined, news: RenewalEvent[]): Promise<void> => {
    const payment = findPayment(turn.intentId ?? '')
    const intent = findIntent(approvals, turn.intentId ?? '')
    const isRenewed = name !== undefined && Date.parse(name.expires_at) > turn.expiresAtMs
    if (payment?.record.paid === true) {
      await settlePaid(turn, { payment, isRenewed, news })
    } else if (payment?.record.paid === false && isFinal(payment)) {
      if (isRenewed) turns.change(turn, { state: 'superseded', nextAtMs: null, problem: null }, news)
      else if (intent?.state === 'denied' && intent.decision?.by === 'person') {
        turns.change(turn, { state: 'declined', nextAtMs: null, problem: null }, news)
      } else turns.recordFailure(turn, findProblem(payment, intent), news)
    } else if (intent?.state === 'waiting' && (isRenewed || records.find(turn.domain)?.enabled !== true)) {
      // Canceling the intent ends the payment and runs this step again.
      approvals.cancel(intent.id, autoRenewRequester)
    }
  }
}

type Attempt = { news: RenewalEvent[]; signal: AbortSignal }

/** Creates the step that starts a renewal. The step returns `full` if the approval queue has no capacity. */
function createAttempt({ records, approvals, read, buy, now, log }: Options, turns: Turns) {
  return async (settings: Settings, turn: RenewalCycle, { news, signal }: Attempt): Promise<'full' | undefined> => {
    const { domain, years, maxMicroUsd } = settings
    try {
      approvals.checkUnlocked()
      const present = await read(domain)
      if (Date.parse(present.expires_at) !== turn.expiresAtMs) {
        turns.change(turn, { state: 'superseded', nextAtMs: null, problem: null }, news)
        return
      }
      const order = { domain, years, capMicroUsd: maxMicroUsd, ifExpiresAt: toIsoTime(turn.expiresAtMs) }
      const begun: Partial<RenewalCycle> = { state: 'begun', nextAtMs: null, problem: null }
      const onStored = ({ id }: IntentRecord): void => records.keepTurn({ ...turn, ...begun, intentId: id })
      const { wasFree } = await buy({ ...order, onStored }, signal)
      if (wasFree) turns.change(turn, { state: 'renewed', nextAtMs: null, problem: null }, news)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof AppError)) log.error('failed to renew a domain', { domain, error })
      if (error instanceof AppError && error.code === 'domain/renewed') {
        turns.change(turn, { state: 'superseded', nextAtMs: null, problem: null }, news)
      } else if (error instanceof AppError && error.status === 429) {
        records.keepTurn({ ...turn, nextAtMs: now() + fullQueueRetryMs })
        return 'full'
      } else if (records.turn(domain, turn.expiresAtMs)?.state !== 'begun') {
        turns.recordFailure(turn, toRenewalProblem(error), news)
      }
    }
    return undefined
  }
}

function findIntent(approvals: Pick<Approvals, 'get'>, id: string): IntentRecord | undefined {
  try {
    return approvals.get(id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'intent/not-found') return undefined
    throw error
  }
}

/** Approval requests have a separate notification. Renewals by others are not notified. */
function isNotified({ state, problem }: RenewalCycle): boolean {
  return state === 'renewed' || state === 'credited' || problem !== null
}

function isFinal({ record: { state } }: StoredPayment): boolean {
  return state === 'refused' || state === 'reconciled'
}

function findProblem({ record }: StoredPayment, intent: IntentRecord | undefined): RenewalProblem {
  if (intent?.state === 'expired') {
    return { kind: 'approval', detail: 'The request for your approval expired.' }
  }
  const error = record.error ?? record.sentence
  if (intent?.decision?.by === 'steward' && intent.error !== null) return { kind: 'wallet', detail: intent.error }
  if (intent?.state === 'denied') return { kind: 'policy', detail: `Your policy refused the payment. ${error}` }
  return { kind: 'other', detail: error }
}

const kinds: Readonly<Record<string, RenewalProblem['kind']>> = {
  'wallet/absent': 'wallet',
  'wallet/locked': 'locked',
  'budget/exceeded': 'budget',
  'purchase/over-maximum': 'price',
  'intent/stopped': 'policy',
  'intent/denied': 'policy',
}

function toRenewalProblem(error: unknown): RenewalProblem {
  if (!(error instanceof AppError)) return { kind: 'other', detail: 'Something went wrong here.' }
  const kind = kinds[error.code] ?? (error.status >= 500 ? 'service' : 'other')
  if (kind === 'locked') return { kind, detail: 'The wallet is locked. Unlock it to renew.' }
  if (kind === 'price') return { kind, detail: `${error.message} Raise the price limit, or renew manually.` }
  return { kind, detail: error.message }
}
