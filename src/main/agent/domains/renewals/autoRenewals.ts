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
 * Renews domains before they expire. Each expiry has one cycle, and a cycle has at most one open payment: the next
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
  recordEvent: (events: RenewalEvent) => void
  now: () => number
  log: Log
}

/** Delay before other renewals are submitted while the approval queue is full. */
const fullQueueRetryMs = 60_000
/** Interval for checking a paid renewal until the registrar confirms it. */
const confirmationIntervalMs = 5 * 60_000

export function createAutoRenewals(options: Options): AutoRenewals {
  const { records, now } = options
  const cycles = createCycleChanges(options)
  const settle = createSettlement(options, cycles)
  const attempt = createAttempt(options, cycles)

  const findCycleOrNew = (settings: Settings, expiresAtMs: number): RenewalCycle =>
    records.cycle(settings.domain, expiresAtMs) ?? {
      ...{ domain: settings.domain, expiresAtMs, state: 'planned', intentId: null, attempts: 0 },
      ...{ nextAtMs: null, problem: null },
    }
  const isDue = (cycle: RenewalCycle, settings: Settings): boolean => {
    const nowMs = now()
    const isInTime = getDueAtMs(cycle.expiresAtMs, settings) <= nowMs && nowMs < cycle.expiresAtMs + gracePeriodMs
    return cycle.state === 'planned' && isInTime && (cycle.nextAtMs ?? 0) <= nowMs
  }

  return {
    async sweep(domains, signal) {
      const events: RenewalEvent[] = []
      const names = new Map(domains.map((domain) => [domain.domain, domain]))
      const settleBegun = async (): Promise<void> => {
        for (const cycle of records.cycles()) {
          if (cycle.state === 'begun' && !signal.aborted) await settle(cycle, names.get(cycle.domain), events)
        }
      }
      await settleBegun()
      for (const settings of records.settings()) {
        const name = names.get(settings.domain)
        if (signal.aborted || !name || !settings.enabled) continue
        const cycle = findCycleOrNew(settings, Date.parse(name.expires_at))
        if (isDue(cycle, settings) && (await attempt(settings, cycle, { events, signal })) === 'full') break
      }
      if (!signal.aborted) await settleBegun()
      return events
    },
    unblock(kinds, domain) {
      for (const cycle of records.cycles()) {
        const isRequested = domain === undefined || cycle.domain === domain
        if (cycle.state !== 'planned' || !isRequested || !cycle.problem || !kinds.includes(cycle.problem.kind)) continue
        records.saveCycle({ ...cycle, nextAtMs: now() })
      }
    },
    onSettingsChange({ domain, enabled }, expiresAtMs) {
      const cycle = records.cycle(domain, expiresAtMs)
      const isOpenAgain = cycle?.state === 'declined' || cycle?.state === 'planned' || cycle?.state === 'superseded'
      if (cycle && isOpenAgain && enabled) {
        records.saveCycle({ ...cycle, state: 'planned', intentId: null, attempts: 0, nextAtMs: now(), problem: null })
      }
    },
    findCycle: ({ domain, expires_at }) => records.cycle(domain, Date.parse(expires_at)),
    nextAtMs(domains) {
      const names = new Map(domains.map((domain) => [domain.domain, Date.parse(domain.expires_at)]))
      const cycles = new Map(
        records.cycles().map((renewalCycle) => [`${renewalCycle.domain} ${renewalCycle.expiresAtMs}`, renewalCycle]),
      )
      let next = Number.POSITIVE_INFINITY
      for (const settings of records.settings()) {
        const expiresAtMs = names.get(settings.domain)
        if (!settings.enabled || expiresAtMs === undefined || now() >= expiresAtMs + gracePeriodMs) continue
        const cycle = cycles.get(`${settings.domain} ${expiresAtMs}`)
        if (cycle && cycle.state !== 'planned') continue
        next = Math.min(next, Math.max(getDueAtMs(expiresAtMs, settings), cycle?.nextAtMs ?? 0))
      }
      for (const { state, nextAtMs } of cycles.values())
        if (state === 'begun' && nextAtMs) next = Math.min(next, nextAtMs)
      return Number.isFinite(next) ? next : undefined
    },
  }
}

type CycleChanges = {
  /** Stores a changed cycle and adds an event that the user is notified of. */
  change(cycle: RenewalCycle, change: Partial<RenewalCycle>, events: RenewalEvent[]): void
  /** Schedules the next attempt. */
  recordFailure(cycle: RenewalCycle, problem: RenewalProblem, events: RenewalEvent[]): void
}

function createCycleChanges({ records, recordEvent, now }: Options): CycleChanges {
  const change: CycleChanges['change'] = (cycle, changes, events) => {
    const after = { ...cycle, ...changes }
    const hasChanged = after.state !== cycle.state || after.problem?.kind !== cycle.problem?.kind
    records.atomically(() => {
      records.saveCycle(after)
      if (hasChanged && isNotified(after)) {
        const fields = { domain: after.domain, state: after.state, problem: after.problem }
        recordEvent(fields)
        events.push(fields)
      }
    })
  }
  return {
    change,
    recordFailure(cycle, problem, events) {
      const attempts = cycle.attempts + 1
      const nextAtMs = getNextAttemptMs(attempts, now())
      change(cycle, { state: 'planned', intentId: null, attempts, nextAtMs, problem }, events)
    },
  }
}

/** Creates the step that settles a renewal whose payment has started. */
function createSettlement({ records, approvals, findPayment, read, now }: Options, cycles: CycleChanges) {
  const settlePaid = async (
    cycle: RenewalCycle,
    { payment, isRenewed, events }: { payment: StoredPayment; isRenewed: boolean; events: RenewalEvent[] },
  ): Promise<void> => {
    const status = payment.answer?.status ?? 0
    if (isRenewed || (status >= 200 && status < 300)) {
      cycles.change(cycle, { state: 'renewed', nextAtMs: null, problem: null }, events)
    } else if (status >= 400 && status < 500) {
      const detail = `${payment.record.title}: the registrar refused. The money was added to your credits. Renew the domain manually.`
      cycles.change(cycle, { state: 'credited', nextAtMs: null, problem: { kind: 'service', detail } }, events)
    } else if ((cycle.nextAtMs ?? 0) <= now()) {
      const name = await read(cycle.domain).catch(() => undefined)
      const isRenewed = name !== undefined && Date.parse(name.expires_at) > cycle.expiresAtMs
      const detail = 'Paid, but the registrar has not confirmed the renewal yet. Steward will not pay again.'
      if (isRenewed) cycles.change(cycle, { state: 'renewed', nextAtMs: null, problem: null }, events)
      else
        cycles.change(cycle, { nextAtMs: now() + confirmationIntervalMs, problem: { kind: 'service', detail } }, events)
    }
  }

  return async (cycle: RenewalCycle, name: RegisteredName | undefined, events: RenewalEvent[]): Promise<void> => {
    const payment = findPayment(cycle.intentId ?? '')
    const intent = findIntent(approvals, cycle.intentId ?? '')
    const isRenewed = name !== undefined && Date.parse(name.expires_at) > cycle.expiresAtMs
    if (payment?.record.paid === true) {
      await settlePaid(cycle, { payment, isRenewed, events })
    } else if (payment?.record.paid === false && isFinal(payment)) {
      if (isRenewed) cycles.change(cycle, { state: 'superseded', nextAtMs: null, problem: null }, events)
      else if (intent?.state === 'denied' && intent.decision?.by === 'person') {
        cycles.change(cycle, { state: 'declined', nextAtMs: null, problem: null }, events)
      } else cycles.recordFailure(cycle, findProblem(payment, intent), events)
    } else if (intent?.state === 'waiting' && (isRenewed || records.find(cycle.domain)?.enabled !== true)) {
      // Canceling the intent ends the payment and runs this step again.
      approvals.cancel(intent.id, autoRenewRequester)
    }
  }
}

type Attempt = { events: RenewalEvent[]; signal: AbortSignal }

/** Creates the step that starts a renewal. The step returns `full` if the approval queue has no capacity. */
function createAttempt({ records, approvals, read, buy, now, log }: Options, cycles: CycleChanges) {
  return async (settings: Settings, cycle: RenewalCycle, { events, signal }: Attempt): Promise<'full' | undefined> => {
    const { domain, years, maxMicroUsd } = settings
    try {
      approvals.checkUnlocked()
      const present = await read(domain)
      if (Date.parse(present.expires_at) !== cycle.expiresAtMs) {
        cycles.change(cycle, { state: 'superseded', nextAtMs: null, problem: null }, events)
        return
      }
      const order = { domain, years, capMicroUsd: maxMicroUsd, ifExpiresAt: toIsoTime(cycle.expiresAtMs) }
      const begun: Partial<RenewalCycle> = { state: 'begun', nextAtMs: null, problem: null }
      const onStored = ({ id }: IntentRecord): void => records.saveCycle({ ...cycle, ...begun, intentId: id })
      const { wasFree } = await buy({ ...order, onStored }, signal)
      if (wasFree) cycles.change(cycle, { state: 'renewed', nextAtMs: null, problem: null }, events)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof AppError)) log.error('failed to renew a domain', { domain, error })
      if (error instanceof AppError && error.code === 'domain/renewed') {
        cycles.change(cycle, { state: 'superseded', nextAtMs: null, problem: null }, events)
      } else if (error instanceof AppError && error.status === 429) {
        records.saveCycle({ ...cycle, nextAtMs: now() + fullQueueRetryMs })
        return 'full'
      } else if (records.cycle(domain, cycle.expiresAtMs)?.state !== 'begun') {
        cycles.recordFailure(cycle, toRenewalProblem(error), events)
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
  if (!(error instanceof AppError)) return { kind: 'other', detail: 'Something went wrong in Steward.' }
  const kind = kinds[error.code] ?? (error.status >= 500 ? 'service' : 'other')
  if (kind === 'locked') return { kind, detail: 'The wallet is locked. Unlock it to renew.' }
  if (kind === 'price') return { kind, detail: `${error.message} Raise the price limit, or renew manually.` }
  return { kind, detail: error.message }
}
