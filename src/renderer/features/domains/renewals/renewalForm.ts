import { type DomainRenewal, RenewalSettings, renewalLimits } from '#shared/contract/domainRenewals.ts'
import { domainLimits } from '#shared/contract/domainSearch.ts'
import { formatUsdInput, parseUsd } from '#shared/money/moneyText.ts'

export type RenewalForm = { daysBefore: number; years: number; maxPrice: string }

const microPerDollar = 1_000_000

/** @param yearMicroUsd list price of one year; undefined if unknown */
export function toRenewalForm(present: DomainRenewal | undefined, yearMicroUsd: number | undefined): RenewalForm {
  if (present) {
    const { days_before: daysBefore, years, max_micro_usd: maxMicroUsd } = present
    return { daysBefore, years, maxPrice: formatUsdInput(String(maxMicroUsd)) }
  }
  return {
    daysBefore: renewalLimits.daysBefore.default,
    years: 1,
    maxPrice: yearMicroUsd === undefined ? '' : suggestMaxPrice(yearMicroUsd),
  }
}

/** Suggests the next whole dollar above the price, which covers the price but not a significant increase. */
export function suggestMaxPrice(microUsd: number): string {
  return formatUsdInput(String((Math.floor(microUsd / microPerDollar) + 1) * microPerDollar))
}

/** @returns undefined if a value is invalid */
export function parseRenewal({ daysBefore, years, maxPrice }: RenewalForm): RenewalSettings | undefined {
  const settings = { enabled: true, days_before: daysBefore, years, max_micro_usd: Number(parseUsd(maxPrice)) }
  const parsed = RenewalSettings.safeParse(settings)
  return parsed.success ? parsed.data : undefined
}

export const renewalRanges = { daysBefore: renewalLimits.daysBefore, years: domainLimits.years } as const
