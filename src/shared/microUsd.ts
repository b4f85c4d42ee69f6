import { z } from 'zod'

/** Millionths of a US dollar, whole and not negative: what every amount of a ledger is counted in. */
export const MicroUsd = z.int().min(0).brand<'MicroUsd'>()
export type MicroUsd = z.infer<typeof MicroUsd>

/** One cent. */
const perCent = 10_000

/** @throws RangeError unless it is a whole number from 0 to 2^53 - 1: a mistake of ours, not of a caller */
export function toMicroUsd(amount: number): MicroUsd {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is no amount of micro-dollars.`)
  return amount as MicroUsd // just checked
}

export function centsToMicroUsd(cents: number): MicroUsd {
  return toMicroUsd(cents * perCent)
}

/** Cents with up to four decimals: exactly this amount. */
export function toExactCents(amount: number): number {
  return amount / perCent
}

/** Whole cents that it covers. */
export function floorToCents(amount: number): number {
  return Math.floor(amount / perCent)
}

/** Whole cents that cover it. */
export function ceilToCents(amount: number): number {
  return Math.ceil(amount / perCent)
}
