import { parseUsd } from '#shared/money/moneyText.ts'

const microUsdPerCent = 10_000n
const maxCents = 100_000_000n

/**
 * Parses a limit such as `5` or `5.25`. An empty text means no limit.
 * @returns the limit in cents, null for no limit, or undefined if the text is not an amount
 */
export function parseLimitCents(written: string): number | null | undefined {
  if (written.trim() === '') return null
  const micro = parseUsd(written)
  if (micro === undefined || BigInt(micro) % microUsdPerCent !== 0n) return undefined
  const cents = BigInt(micro) / microUsdPerCent
  return cents > maxCents ? undefined : Number(cents)
}
