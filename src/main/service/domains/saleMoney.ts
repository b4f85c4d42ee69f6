import { AppError } from '../../../shared/appError.ts'

export type SaleMoney = {
  /** Whether names exist on the internet, and orders cost the registrar's account money. */
  namesAreReal: boolean
  /** Undefined where the service takes no payments. */
  moneyIsReal: boolean | undefined
}

/** @returns why names are not sold: a name of a test registry never costs real money, and a real one no test money */
export function saleRefusal({ namesAreReal, moneyIsReal }: SaleMoney, title: string): AppError | undefined {
  if (moneyIsReal === undefined || namesAreReal === moneyIsReal) return undefined
  return new AppError(
    'payments/unconfigured',
    namesAreReal
      ? `Names of ${title} are not sold for test money.`
      : `Test names of ${title} are not sold for real money.`,
  )
}
