import type { Log } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import { AppError } from '#shared/appError.ts'
import type { SandboxCost } from '#shared/contract/sandboxes.ts'
import type { AccountId, SandboxId } from '#shared/ids.ts'
import { ceilToCents, floorToCents, toExactCents } from '#shared/microUsd.ts'
import type { CreditLedger } from './creditLedger.ts'
import type { LedgerStore } from './ledgerStore.ts'
import { computeRunningCost, type PriceList, type SandboxSize } from './priceList.ts'

export type SandboxBilling = {
  isCharged: boolean
  /** Price of a sandbox and cost of its current run so far. */
  getCost(sandbox: SandboxSize & { startedAtMs: number | null }): SandboxCost
  /** Checks the balance before a run. @throws AppError `credits/insufficient` if the account cannot pay for one hour */
  assertCredits(accountId: AccountId, size: SandboxSize): Promise<void>
  /** Starts metering a run, unless it is metered already. */
  begin(run: Pick<SandboxRun, 'id' | 'startedAtMs'>): Promise<void>
  /**
   * Charges a run up to now. Each moment is charged once, even across restarts.
   * @returns false if the account could not pay the full amount
   */
  charge(run: SandboxRun): Promise<boolean>
}

export type SandboxRun = SandboxSize & { id: SandboxId; accountId: AccountId; name: string; startedAtMs: number }

const hourMs = 60 * 60_000
/** Larger differences between the wall clock and running time are logged and recorded. */
const minRecordedMs = 60_000

/**
 * Charges running time of the computer rather than wall-clock differences, so that clock changes and sleep cost
 * nothing.
 */
export function createSandboxBilling(options: {
  ledger: Pick<LedgerStore, 'change' | 'read'>
  prices: PriceList
  isCharged: boolean
  clock: Pick<Clock, 'now' | 'steadyMs' | 'runningMs' | 'epoch'>
  log: Log
}): SandboxBilling {
  const { ledger, prices, isCharged, clock, log } = options
  const beganMs = clock.runningMs()

  /** Time since the last charge of a run: time to charge, and wall-clock time. */
  const measure = (meters: CreditLedger, { id, startedAtMs }: Pick<SandboxRun, 'id' | 'startedAtMs'>) => {
    const meter = meters.findMeter(id)
    const isSameRun = meter !== undefined && meter.startedAtMs === startedAtMs
    const isLegacy = meter !== undefined && meter.startedAtMs === null && meter.untilMs <= clock.now()
    const fromMs = isSameRun || isLegacy ? Math.max(startedAtMs, meter.untilMs) : startedAtMs
    const wallMs = clock.now() - fromMs
    if (isSameRun && meter.runningMs !== null && meter.epoch === clock.epoch) {
      return { wallMs, elapsedMs: Math.max(0, clock.runningMs() - meter.runningMs) }
    }
    // The run was metered by another process or not at all. This process can vouch only for the time since its own
    // start.
    return { wallMs, elapsedMs: Math.min(clock.runningMs() - beganMs, Math.max(0, wallMs)) }
  }
  const mark = (meters: CreditLedger, { id, startedAtMs }: Pick<SandboxRun, 'id' | 'startedAtMs'>): void =>
    meters.setMeter(id, {
      ...{ untilMs: Math.round(clock.now()), startedAtMs, runningMs: clock.runningMs(), epoch: clock.epoch },
    })

  return {
    isCharged,
    getCost({ startedAtMs, ...size }) {
      const tier = prices.getTier(size)
      const ranMs = startedAtMs === null ? 0 : Math.max(0, clock.steadyMs() - startedAtMs)
      return {
        tier: tier.name,
        cents_per_hour: toExactCents(computeRunningCost(tier, hourMs)),
        run_cents: toExactCents(computeRunningCost(tier, ranMs)),
        charged: isCharged,
      }
    },
    async assertCredits(accountId, size) {
      if (!isCharged) return
      const required = computeRunningCost(prices.getTier(size), hourMs)
      const { available } = await ledger.read({ accounts: [accountId] }, (it) => it.balance(accountId))
      if (available >= required) return
      throw new AppError('credits/sandbox', 'Insufficient credits', {
        detail: `One hour of this sandbox costs ${toExactCents(required)} cents.`,
        fields: {
          code: 'INSUFFICIENT_CREDITS', // required by the interface
          details: { required_cents: ceilToCents(required), current_balance_cents: floorToCents(available) },
        },
      })
    },
    begin: (run) =>
      ledger.change({ meters: [run.id] }, (it) => {
        if (it.findMeter(run.id)?.startedAtMs !== run.startedAtMs) mark(it, run)
      }),
    async charge(run) {
      const { id, accountId, name, ...size } = run
      const { isPaid, jump } = await ledger.change({ accounts: [accountId], meters: [id] }, (it) => {
        const { elapsedMs, wallMs } = measure(it, run)
        const tier = prices.getTier(size)
        const amount = computeRunningCost(tier, elapsedMs)
        mark(it, run)
        const seconds = Math.round(elapsedMs / 1000)
        const uncharged = Math.round((wallMs - elapsedMs) / 1000)
        const isRecorded = Math.abs(wallMs - elapsedMs) > minRecordedMs
        const note = isRecorded && uncharged > 0 ? ` (${uncharged} s not charged: the clock jumped)` : ''
        const description = `${name}: ${tier.name}, ${seconds} s${note}`
        const isPaid = it.charge({ accountId, type: 'sandbox', description, amount }) === amount
        return { isPaid, jump: isRecorded ? { seconds, uncharged } : undefined }
      })
      if (jump) log.warn('clock jumped, charging a sandbox by elapsed time', { id, ...jump })
      return isPaid
    },
  }
}
