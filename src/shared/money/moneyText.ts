import { formatTokenAmount } from '../tokenAmount.ts'

/**
 * Number of decimals. `cents`: two. `exact`: at least two, and as many as the amount has. `whole`: none for whole
 * dollars, otherwise like `exact`.
 */
export type MoneyForm = 'whole' | 'cents' | 'exact'

/** Rounding to cents: balances down, charges up. */
export type CentRounding = 'nearest' | 'down' | 'up'

const usdDecimals = 6
const microUsdPerCent = 10_000

/**
 * Formats US dollars for display: `$1,234.50`, `−$0.0015`.
 * @param microUsd millionths of a dollar: an integer, or its decimal text
 * @param rounding applies only to `cents`
 */
export function formatUsd(
  microUsd: number | bigint | string,
  form: MoneyForm,
  rounding: CentRounding = 'nearest',
): string {
  const signed = typeof microUsd === 'number' ? BigInt(Math.round(microUsd)) : BigInt(microUsd)
  const amount = signed < 0n ? -signed : signed
  const rounded = form === 'cents' ? roundToCents(amount, rounding) : amount
  const text = formatTokenAmount(rounded, usdDecimals)
  return `${signed < 0n && rounded > 0n ? '−' : ''}$${form === 'whole' ? text.replace(/\.00$/, '') : text}`
}

/** Formats cents with up to four decimals, the unit of the service's credits: `$1.50`, `−$0.0123`. */
export function formatUsdCents(cents: number): string {
  return formatUsd(cents * microUsdPerCent, 'exact')
}

/** Formats an amount for an input field: `1234.5`, `5`. */
export function formatUsdInput(microUsd: number | bigint | string): string {
  return formatUsd(microUsd, 'whole').replace(/[$,]/g, '')
}

/**
 * Parses an amount from an input field.
 * @returns millionths of a dollar as decimal text, or undefined for text that is not a number with at most six decimals
 */
export function parseUsd(text: string): string | undefined {
  const [, whole, part = ''] = /^\$?\s*(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text.trim()) ?? []
  return whole === undefined ? undefined : BigInt(whole + part.padEnd(usdDecimals, '0')).toString()
}

function roundToCents(amount: bigint, rounding: CentRounding): bigint {
  const cent = BigInt(microUsdPerCent)
  const extra = { down: 0n, nearest: cent / 2n, up: cent - 1n }[rounding]
  return ((amount + extra) / cent) * cent
}
