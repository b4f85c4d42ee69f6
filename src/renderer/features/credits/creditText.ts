import { formatUsdCents, parseUsd } from '#shared/money/moneyText.ts'

const microPerCent = 10_000

/** Formats a change with an explicit sign. */
export function formatChange(cents: number): string {
  return cents > 0 ? `+${formatUsdCents(cents)}` : formatUsdCents(cents)
}

/** Formats cents with two decimals where they suffice. Costs below one cent are shown as `< $0.01`. */
export function formatApproximateCents(cents: number): string {
  if (cents > 0 && cents < 1) return '< $0.01'
  return formatUsdCents(Math.round(cents))
}

/** Formats an axis label, exactly if the whole chart is below a few cents. */
export function formatAxisCents(cents: number, top: number): string {
  return top < 10 ? formatUsdCents(cents) : formatApproximateCents(cents)
}

/** @returns undefined if the text is not an amount of whole cents */
export function parseCents(written: string): number | undefined {
  const micro = parseUsd(written)
  if (micro === undefined) return undefined
  const cents = Number(micro) / microPerCent
  return Number.isSafeInteger(cents) ? cents : undefined
}
