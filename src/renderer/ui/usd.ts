/** Micro-dollars (1 USD = 1,000,000) as decimal text, and the dollars that a person reads and writes. */

/** `$1,234.50`; more digits where two would hide something: `$0.0015`. */
export function usdText(microUsd: string): string {
  const micro = microUsd.padStart(7, '0')
  const whole = BigInt(micro.slice(0, -6)).toLocaleString('en')
  const cents = micro.slice(-6).replace(/0{1,4}$/, '')
  return `$${whole}.${cents}`
}

const microPerCent = 10_000

/** `$1.50`, `−$0.0123`: of cents with up to four decimals, as the service counts credits. */
export function centsText(cents: number): string {
  const micro = Math.round(cents * microPerCent)
  return `${micro < 0 ? '−' : ''}${usdText(String(Math.abs(micro)))}`
}

/** What stands in a field: without sign and separators. */
export function usdField(microUsd: string): string {
  return usdText(microUsd).slice(1).replaceAll(',', '').replace(/\.00$/, '')
}

/** @returns undefined for what is no amount: a number with at most six digits after the point */
export function microUsdOf(written: string): string | undefined {
  const [, whole, part = ''] = /^\$?\s*(\d{1,12})(?:\.(\d{1,6}))?$/.exec(written.trim()) ?? []
  return whole === undefined ? undefined : BigInt(whole + part.padEnd(6, '0')).toString()
}
