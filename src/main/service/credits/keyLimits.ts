import type { MicroUsd } from '#shared/microUsd.ts'
import type { Hold, KeyDay, LedgerRepository } from './ledgerRepository.ts'

/** The limit covers spent and held amounts of the current UTC day. */
export type KeyLimit = { id: string; dailyLimit: MicroUsd | undefined }

export type KeyLimits = {
  toKeyDay(keyId: string): KeyDay
  /** Remaining daily amount for the key of a hold. Infinite without a limit. */
  getRemainingOfDay(hold: Pick<Hold, 'keyId' | 'keyDay' | 'keyLimit'>): number
  /** Remaining amount of a key today. Infinite without a limit. */
  getRemainingToday(key: KeyLimit | undefined): number
}

export const dayMs = 24 * 60 * 60_000

export function createKeyLimits(records: Pick<LedgerRepository, 'keyDay'>, steadyMs: () => number): KeyLimits {
  const toKeyDay = (keyId: string): KeyDay => ({ keyId, day: Math.floor(steadyMs() / dayMs) })
  const getRemaining = (key: KeyDay, limit: number): number => {
    const { spent, held } = records.keyDay(key)
    return Math.max(0, limit - spent - held)
  }
  return {
    toKeyDay,
    getRemainingOfDay({ keyId, keyDay: day, keyLimit }) {
      if (keyId === null || day === null || keyLimit === null) return Number.POSITIVE_INFINITY
      return getRemaining({ keyId, day }, keyLimit)
    },
    getRemainingToday: (key) =>
      key?.dailyLimit === undefined ? Number.POSITIVE_INFINITY : getRemaining(toKeyDay(key.id), key.dailyLimit),
  }
}
