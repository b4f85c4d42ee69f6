import { AppError } from '#shared/appError.ts'
import { floorToCents, type MicroUsd, toExactCents, toMicroUsd } from '#shared/microUsd.ts'
import type { KeyLimit } from './keyLimits.ts'
import type { AccountBalance } from './ledgerRepository.ts'

/** Minimum balance to start anything that costs credits. */
const minBalance = toMicroUsd(100_000)

/** @throws AppError `credits/insufficient` */
export function assertMinimum({ posted }: AccountBalance): void {
  if (posted < minBalance) {
    throw new AppError('credits/insufficient', 'Insufficient credits', {
      detail: `Minimum balance of ${toExactCents(minBalance)} cents required. Current balance: ${floorToCents(posted)} cents.`,
    })
  }
}

export function createInsufficientError(balance: AccountBalance, amount: MicroUsd): AppError {
  const detail = `${toExactCents(amount)} cents are required, but only ${describeAvailable(balance)}`
  return new AppError('credits/insufficient', 'Insufficient credits', { detail })
}

export function createTooLittleError(balance: AccountBalance): AppError {
  const detail = `This request costs more than the available credits: ${describeAvailable(balance)}`
  return new AppError('credits/insufficient', 'Insufficient credits', { detail })
}

function describeAvailable({ available, held }: AccountBalance): string {
  const others = held === 0 ? '' : ` Running requests hold ${toExactCents(held)} cents.`
  return `${toExactCents(available)} cents are available.${others}`
}

export function createDailyLimitError(key: KeyLimit | undefined, remaining: number): AppError {
  return new AppError('credits/daily-limit', 'The daily limit of this API key does not cover this.', {
    detail: `${toExactCents(remaining)} of ${toExactCents(key?.dailyLimit ?? 0)} cents remain until 00:00 UTC.`,
  })
}
