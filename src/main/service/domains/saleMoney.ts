import { AppError } from '#shared/appError.ts'

export type SaleMoney = {
  /** Whether orders register real names and charge the registrar account. */
  namesAreReal: boolean
  /** Whether payments use real money; undefined if the service does not accept payments. */
  moneyIsReal: boolean | undefined
}

/** @returns the reason to reject sales if test names would cost real money or real names test money */
export function findSaleRefusal({ namesAreReal, moneyIsReal }: SaleMoney, title: string): AppError | undefined {
  if (moneyIsReal === undefined || namesAreReal === moneyIsReal) return undefined
  return new AppError(
    'payments/unconfigured',
    namesAreReal
      ? `Names of ${title} are not sold for test money.`
      : `Test names of ${title} are not sold for real money.`,
  )
}
