import { AppError } from '../../../shared/appError.ts'
import type { SandboxCost } from '../../../shared/contract/sandboxes.ts'
import type { AccountId, SandboxId } from '../../../shared/ids.ts'
import { centsDown, centsUp, exactCents } from '../../../shared/microUsd.ts'
import { costOfRunning, type PriceList, type SandboxSize } from './priceList.ts'
import type { LedgerWrites } from './sweptHolds.ts'

export type SandboxBilling = {
  isCharged: boolean
  /** What it costs, and what its present run cost so far. */
  costOf(sandbox: SandboxSize & { startedAtMs: number | null }): SandboxCost
  /** Before it runs. @throws AppError `credits/insufficient` where the account cannot pay for an hour of it */
  needCredits(accountId: AccountId, size: SandboxSize): void
  /**
   * Charges a run up to now, each moment of it once, whatever restarts there are.
   * @returns false when the account could not pay for all of it
   */
  charge(run: SandboxRun): Promise<boolean>
}

export type SandboxRun = SandboxSize & { id: SandboxId; accountId: AccountId; name: string; startedAtMs: number }

const hourMs = 60 * 60_000

export function sandboxBilling(
  options: LedgerWrites & { prices: PriceList; isCharged: boolean; now: () => number },
): SandboxBilling {
  const { ledger, commits, prices, isCharged, now } = options
  return {
    isCharged,
    costOf({ startedAtMs, ...size }) {
      const tier = prices.tierOf(size)
      return {
        tier: tier.name,
        cents_per_hour: exactCents(costOfRunning(tier, hourMs)),
        run_cents: startedAtMs === null ? 0 : exactCents(costOfRunning(tier, now() - startedAtMs)),
        charged: isCharged,
      }
    },
    needCredits(accountId, size) {
      if (!isCharged) return
      const required = costOfRunning(prices.tierOf(size), hourMs)
      const { available } = ledger.balance(accountId)
      if (available >= required) return
      throw new AppError('credits/sandbox', 'Insufficient credits', {
        detail: `One hour of this sandbox costs ${exactCents(required)} cents.`,
        fields: {
          code: 'INSUFFICIENT_CREDITS', // as the interface prescribes
          details: { required_cents: centsUp(required), current_balance_cents: centsDown(available) },
        },
      })
    },
    charge: ({ id, accountId, name, startedAtMs, ...size }) =>
      commits.written(() => {
        const fromMs = Math.max(startedAtMs, ledger.meteredUntil(id))
        const toMs = Math.max(fromMs, now())
        const tier = prices.tierOf(size)
        const amount = costOfRunning(tier, toMs - fromMs)
        ledger.meter(id, toMs)
        const description = `${name}: ${tier.name}, ${Math.round((toMs - fromMs) / 1000)} s`
        return ledger.charge({ accountId, type: 'sandbox', description, amount }) === amount
      }),
  }
}
