import { type DomainRenewal, RenewalSettings, renewalLimits } from '#shared/contract/domainRenewals.ts'
import { domainLimits } from '#shared/contract/domainSearch.ts'
import { parseUsd, usdInput } from '#shared/money/moneyText.ts'

/** Values of the fields. */
export type RenewalForm = { daysBefore: number; years: number; most: string }

const microPerDollar = 1_000_000

/** @param yearMicroUsd list price of one year; undefined: not known */
export function renewalForm(present: DomainRenewal | undefined, yearMicroUsd: number | undefined): RenewalForm {
  if (present) {
    const { days_before: daysBefore, years, most_micro_usd: most } = present
    return { daysBefore, years, most: usdInput(String(most)) }
  }
  return {
    daysBefore: renewalLimits.daysBefore.default,
    years: 1,
    most: yearMicroUsd === undefined ? '' : suggestedMost(yearMicroUsd),
  }
}

/** The next whole dollar above the price: it pays for that, and for no surprise. */
export function suggestedMost(microUsd: number): string {
  return usdInput(String((Math.floor(microUsd / microPerDollar) + 1) * microPerDollar))
}

/** @returns undefined while something in it cannot be */
export function writtenRenewal({ daysBefore, years, most }: RenewalForm): RenewalSettings | undefined {
  const given = { enabled: true, days_before: daysBefore, years, most_micro_usd: Number(parseUsd(most)) }
  const parsed = RenewalSettings.safeParse(given)
  return parsed.success ? parsed.data : undefined
}

export const renewalRanges = { daysBefore: renewalLimits.daysBefore, years: domainLimits.years } as const
