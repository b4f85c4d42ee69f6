import type { MicroUsd } from '#shared/microUsd.ts'
import type { Hold, KeyDay, LedgerRepository } from './ledgerRepository.ts'

/** The limit counts what was spent and what is held in this day of UTC. */
export type KeyLimit = { id: string; dailyLimit: MicroUsd | undefined }

/** Daily limits of API keys. */
export type KeyLimits = {
  toKeyDay(keyId: string): KeyDay
  /** Amount that the key of a hold has left of its day; infinite without a limit. */
  getRemainingOfDay(hold: Pick<Hold, 'keyId' | 'keyDay' | 'keyLimit'>): number
  /** Amount that a key has left today; infinite without a limit. */
  getRemainingToday(key: KeyLimit | undefined): number
}

const dayMs = 24 * 60 * 60_000

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
