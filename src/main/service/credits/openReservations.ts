import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { AccountId } from '#shared/ids.ts'
import { type MicroUsd, toMicroUsd } from '#shared/microUsd.ts'
import type { Charge, CreditReservations, Payer, Reservation, Settlement } from './creditReservations.ts'
import type { KeyLimit } from './keyLimits.ts'
import type { LedgerKeys, LedgerStore, LedgerWork } from './ledgerStore.ts'

/** Allowed models and daily limit of an API key. Null allows all models or means no limit. */
export type KeyRules = { models: readonly string[] | null; dailyLimit: MicroUsd | null }

type Options = {
  ledger: Pick<LedgerStore, 'change' | 'read' | 'hasEnded'>
  /** @returns undefined for a revoked key */
  getRules: (keyId: string) => Promise<KeyRules | undefined>
  log: Log
  /** Schedules a task after some milliseconds. Default: `setTimeout`. */
  later?: (task: () => void, ms: number) => void
}

const triedAgainAfterMs = 1_000

/** Allows 110 % of the hold, in case the input was underestimated. */
function chargeLimit(holdAmount: MicroUsd): MicroUsd {
  return toMicroUsd(Math.ceil((holdAmount * 11) / 10))
}

export function openReservations({ ledger, getRules, log, ...options }: Options): CreditReservations {
  const later = options.later ?? ((task, ms) => void setTimeout(task, ms).unref())

  /**
   * Ends a hold and retries failed writes until one succeeds. If the process ends first, the next start completes it.
   */
  const surely = async <T>(
    holdId: number,
    work: LedgerWork<T>,
  ): Promise<{ value: T | undefined; written: boolean }> => {
    try {
      return { value: await ledger.change({ holds: [holdId] }, work), written: true }
    } catch (error) {
      log.error('failed to close a hold', { error })
      if (!ledger.hasEnded) later(() => void surely(holdId, work), triedAgainAfterMs)
      return { value: undefined, written: false }
    }
  }

  const reservation = (hold: { id: number; amount: MicroUsd; model: string }): Reservation => {
    let ended: Promise<Settlement> | undefined
    const settleHold = async ({ amountMicroUsd, estimated, details }: Charge): Promise<Settlement> => {
      const limit = chargeLimit(hold.amount)
      const charge = { amount: amountMicroUsd, limit, details: { ...details, estimated } }
      if (amountMicroUsd > limit) {
        log.warn('charge capped: the provider reported more usage than the request allows', {
          ...{ model: hold.model, heldMicroUsd: hold.amount, countedMicroUsd: amountMicroUsd },
        })
      }
      const { value, written } = await surely(hold.id, (it) => it.post(hold.id, charge))
      const unwritten = toMicroUsd(Math.min(amountMicroUsd, limit))
      return { chargedMicroUsd: written ? (value?.charged ?? toMicroUsd(0)) : unwritten, written }
    }
    const releaseHold = async (): Promise<Settlement> => {
      const { written } = await surely(hold.id, (it) => it.void(hold.id))
      return { chargedMicroUsd: toMicroUsd(0), written }
    }
    return {
      heldMicroUsd: hold.amount,
      settle(charge) {
        ended ??= settleHold(charge)
        return ended
      },
      async release() {
        ended ??= releaseHold()
        await ended
      },
    }
  }

  return {
    async reserve({ accountId, keyId, worstCaseMicroUsd, model }) {
      const rules = await getRulesFor(keyId, getRules)
      if (rules?.models && !rules.models.includes(model)) {
        throw new AppError('key/model', `This API key is not allowed to use the model \`${model}\`.`, {
          detail: `Allowed models: ${rules.models.join(', ')}.`,
        })
      }
      const key = toKeyLimit(keyId, rules)
      const hold = await ledger.change(toPayerKeys(accountId, key), (it) =>
        it.hold({ accountId, key, amount: worstCaseMicroUsd, model }),
      )
      return reservation({ ...hold, model })
    },
    async spendable({ accountId, keyId }) {
      const key = toKeyLimit(keyId, await getRulesFor(keyId, getRules))
      return ledger.read(toPayerKeys(accountId, key), (it) => it.spendable(accountId, key))
    },
  }
}

function toPayerKeys(accountId: AccountId, key: KeyLimit | undefined): LedgerKeys {
  return { accounts: [accountId], keyIds: key ? [key.id] : [] }
}

/**
 * @returns undefined for calls without a key
 * @throws AppError `auth/invalid` for a revoked key
 */
export async function getRulesFor(keyId: Payer['keyId'], rulesOf: Options['getRules']): Promise<KeyRules | undefined> {
  if (keyId === undefined) return undefined
  const rules = await rulesOf(keyId)
  if (rules) return rules
  throw new AppError('auth/invalid', 'The API key is not valid.')
}

export function toKeyLimit(keyId: Payer['keyId'], rules: KeyRules | undefined): KeyLimit | undefined {
  return keyId === undefined ? undefined : { id: keyId, dailyLimit: rules?.dailyLimit ?? undefined }
}
