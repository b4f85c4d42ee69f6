import { z } from 'zod'

/** Non-negative integer in millionths of a US dollar, the unit of all ledger amounts. */
export const MicroUsd = z.int().min(0).brand<'MicroUsd'>()
export type MicroUsd = z.infer<typeof MicroUsd>

/** Micro-dollars per cent. */
const perCent = 10_000

/** @throws RangeError unless the amount is an integer from 0 to 2^53 - 1, which indicates a bug */
export function toMicroUsd(amount: number): MicroUsd {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`${amount} is not an amount of micro-dollars.`)
  return amount as MicroUsd // checked above
}

export function centsToMicroUsd(cents: number): MicroUsd {
  return toMicroUsd(cents * perCent)
}

/** Converts to cents without rounding, with up to four decimals. */
export function toExactCents(amount: number): number {
  return amount / perCent
}

export function floorToCents(amount: number): number {
  return Math.floor(amount / perCent)
}

export function ceilToCents(amount: number): number {
  return Math.ceil(amount / perCent)
}
